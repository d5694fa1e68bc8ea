"""The tree of a beam search."""

import torch

from seq2see.decoding import DecodingSettings
from seq2see.decoding.search import search
from seq2see.lens.teacher_forcing import teacher_force
from seq2see.lens.tree import TreeGrower
from seq2see.text import BEGIN, END, STANDARD


def path(nodes, place):
    """The tokens from the root to a node."""
    found = []
    while nodes[place].parent is not None:
        found.append(nodes[place].token)
        place = nodes[place].parent
    return found[::-1]


def test_a_tree_holds_every_hypothesis_and_those_that_were_dropped(make_model):
    network = make_model(noise=0.1)
    source = [4, 5, 6, 7, END]
    grower = TreeGrower(STANDARD)
    with torch.inference_mode():
        memory = network.encode_ids(torch.tensor([source]))
    settings = DecodingSettings(beam=3, nbest=3)
    found = search(network, memory, [6], settings, follow=grower)[0]
    nodes = grower.grown([*found[0].ids, END])
    assert nodes[0].token == BEGIN
    paths = {tuple(path(nodes, place)): node for place, node in enumerate(nodes)}
    assert len(paths) == len(nodes)
    for one in found:
        end = paths[*one.ids, END]
        assert end.state == ("best" if one is found[0] else "finished")
        assert abs(end.log_probability - one.log_probability) < 1e-4
    for place in range(len(found[0].ids) + 1):
        assert paths[tuple(found[0].ids[:place])].state == "best"
    states = {node.state for node in nodes}
    assert "pruned" in states
    # Whatever the state of a node, its log-probability is that of its path.
    for tokens, node in paths.items():
        if tokens and tokens[-1] != END:
            said = [*tokens, END]
            assert abs(sum(teacher_force(network, source, said).of(said)[:-1]) - node.log_probability) < 1e-3


def test_following_changes_no_output(make_model):
    network = make_model()
    with torch.inference_mode():
        memory = network.encode_ids(torch.tensor([[4, 5, 6, 7, END]]))
    settings = DecodingSettings(beam=4, nbest=4)
    plain = search(network, memory, [6], settings)
    assert search(network, memory, [6], settings, follow=TreeGrower(STANDARD)) == plain
