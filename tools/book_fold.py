"""What the book folds in a lecture, so that a reader can predict: from the first thing below a question that answers
it, an output or the lecture's own answer, to the next heading or the next question."""

from docutils import nodes

QUESTION, ANSWER = "predict", '<details class="answer">'          # how tools/book_text.py has marked them
BEGIN, END = '<details class="result"><summary>See what came out</summary>', "</details>"


def fold_results(app, doctree):
    """Sphinx asks for it when it has read a page, after the questions were marked."""
    if app.env.docname.startswith("lectures/"):
        fold(doctree, asked=False)


def fold(section, asked):
    """Fold in a section and in those within it. asked: does a question before it wait for its answer? Returns the same
    of what comes after it."""
    blocks, opened, answered = [], False, False
    for block in section.children:
        inner, question = isinstance(block, nodes.section), QUESTION in classes(block)
        if opened and (inner or question):
            blocks.append(nodes.raw("", END, format="html"))
            opened = asked = False
        if inner:
            asked = fold(block, asked)
        asked = asked or question
        if asked and not opened and (begins_answer(block) or output(block)):
            if output(block):
                before, block = split(block)
                blocks.append(before)
            blocks.append(nodes.raw("", BEGIN, format="html"))
            opened, answered = True, False
        if opened and not answered and begins_answer(block):                # it is shown with what came out
            block = nodes.raw("", block.astext().replace(ANSWER, ANSWER[:-1] + " open>"), format="html")
            answered = True
        blocks.append(block)
    if opened:
        blocks.append(nodes.raw("", END, format="html"))
    section[:] = blocks
    return asked and not opened


def classes(block):
    return block.get("classes", []) if isinstance(block, nodes.Element) else []


def begins_answer(block):
    return isinstance(block, nodes.raw) and block.astext().startswith(ANSWER)


def output(cell):
    """What a cell shows, a list of none or one."""
    return [part for part in cell.children if "cell_output" in classes(part)] if "cell" in classes(cell) else []


def split(cell):
    """Two cells of one: its code, and what it shows."""
    [shown], below = output(cell), cell.copy()
    cell.remove(shown)
    below.append(shown)
    below["ids"] = []                                                       # the code keeps the cell's name
    return cell, below
