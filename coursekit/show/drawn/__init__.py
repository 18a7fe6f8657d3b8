"""Drawings: boards, trees, flow charts and diagrams of modules, boxes and arrows."""
