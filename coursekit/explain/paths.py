"""How much of each input reaches the read-out token through all layers: attention rollout and attention flow.

Both see the network as a graph: a node for each token at each layer, an edge for each attention weight, averaged over
heads (Abnar and Zuidema, ACL 2020). Half of what a node holds comes from itself, ½A + ½I: the skip connections.
"""

import networkx
import numpy as np
import torch
from numpy.typing import ArrayLike
from tqdm.auto import tqdm

from coursekit.inputs import Document
from coursekit.models.protocols import WhiteBox

from .asking import of_own_tokens, require_methods
from .attribution import Attribution


def rollout(model: WhiteBox, document: Document) -> Attribution:
    """Attention rollout: the read-out row of the product Â_L ⋯ Â_1, the last layer leftmost (Abnar and Zuidema, 2020).

    model: a white box. Rows of the product sum to one; what the read-out token itself, other special tokens and padding
    hold is left out of the Attribution. Unsigned. Values, norms and MLPs play no part.

    >>> from types import SimpleNamespace
    >>> from coursekit.models.attention import Trace
    >>> A = torch.tensor([[[0.5, 0.5], [0.0, 1.0]]])                      # one head, the same in both layers
    >>> model = SimpleNamespace(tokens=lambda d: ["[CLS]", *d], own=lambda d: [1], readout=0,
    ...                         embed=lambda d: torch.zeros(2, 1), trace=lambda e: Trace(None, [A, A], []))
    >>> rollout(model, ["good"])                                          # 0.25 · 1, by way of [CLS] 0.75 · 0.25
    rollout: good(+0.438)
    """
    mixing = _mixing(model, document, "rollout")
    shares = np.eye(mixing.shape[-1])[model.readout]
    for A in mixing[::-1]:                                                       # from the top layer down
        shares = shares @ A
    return of_own_tokens(model, document, shares, "rollout", signed=False)


def attention_flow(model: WhiteBox, document: Document, progress=False) -> Attribution:
    """Attention flow: the maximum flow from the read-out token to each input token, weights as capacities.

    Each token's flow is computed alone (Abnar and Zuidema, 2020, section 3.3): the flows need not sum to one, and with
    several layers many of them are all that the source can send, 1. With one layer the flow is half of the weight.
    NetworkX finds them: T flows in a graph of L · T² edges, seconds for 30 tokens and 6 layers. progress: show a bar.
    Unsigned.

    >>> from types import SimpleNamespace
    >>> from coursekit.models.attention import Trace
    >>> A = torch.tensor([[[0.5, 0.5], [0.0, 1.0]]])                      # one head, the same in both layers
    >>> model = SimpleNamespace(tokens=lambda d: ["[CLS]", *d], own=lambda d: [1], readout=0,
    ...                         embed=lambda d: torch.zeros(2, 1), trace=lambda e: Trace(None, [A, A], []))
    >>> attention_flow(model, ["good"])                                   # two pipes of width 0.25, both arrive
    attention flow: good(+0.5)
    """
    mixing = _mixing(model, document, "attention_flow")
    flows = np.zeros(mixing.shape[-1])
    graph, source = flow_graph(mixing, model.readout)
    for t in tqdm(model.own(document), disable=not progress, desc="flows", unit="token"):
        flows[t] = networkx.maximum_flow_value(graph, source, (0, t)) if (0, t) in graph else 0.0
    return of_own_tokens(model, document, flows, "attention flow", signed=False)


def flow_graph(mixing: ArrayLike, readout: int) -> tuple[networkx.DiGraph, tuple]:
    """(graph, source): a networkx.DiGraph of what token `readout` of the top layer can draw from, through weights
    (L, T, T), first layer first. Nodes are (layer, token), layer 0 the input; an edge's "capacity" is the weight.

    >>> graph, source = flow_graph(np.array([[[0.5, 0.5], [0.0, 1.0]]]), readout=0)
    >>> source, list(graph.edges(data="capacity"))
    ((1, 0), [((1, 0), (0, 0), 0.5), ((1, 0), (0, 1), 0.5)])
    """
    graph, source = networkx.DiGraph(), (len(mixing), readout % mixing.shape[-1])
    rows = {source[1]}                                                           # the nodes above that anything reaches
    for l in range(len(mixing), 0, -1):
        edges = [(s, int(t), float(mixing[l - 1, s, t])) for s in rows for t in np.flatnonzero(mixing[l - 1, s])]
        graph.add_weighted_edges_from((((l, s), (l - 1, t), weight) for s, t, weight in edges), weight="capacity")
        rows = {t for _, t, _ in edges}
    return graph, source


def _mixing(model, document, explainer):
    """(L, T', T'): the heads' mean attention of each layer, and the identity, half of each; rows sum to one.
    T' counts the padding where the model attends to it."""
    require_methods(model, "embed", "trace", "own", "readout", explainer=explainer)
    with torch.no_grad():
        maps = model.trace(model.embed(document)).attentions
        A = torch.stack([weights.mean(0) for weights in maps]).cpu().double().numpy()
    return (A + np.eye(A.shape[-1])) / 2
