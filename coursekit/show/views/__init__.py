"""Views that can be handled: bertviz with its pictures beside it, the attention explorer, a feature's examples."""
