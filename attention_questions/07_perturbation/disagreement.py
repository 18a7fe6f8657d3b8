"""The check of assignment 07 on a text about which LIME and Shapley values disagree."""

from attention_questions.prelude import Question, functools, np
from coursekit.models import load_weights

from . import solution
from .sharing import all_masks

MOST, WANTED = 8, 1.0       # distinct words, distance


@functools.cache
def _peaky():
    return load_weights("imdb-peaky")


def _words(text):
    """The distinct words of a text, as `imdb-peaky` reads it."""
    return list(dict.fromkeys(_peaky().tokenizer.tokenize(text)))


apart = Question(solution.apart, (1, 0), {
    "your text": ()},
    otherwise="Where the score is about a sum over the words, the two agree. Where does this model stop adding up? Try "
              "words that say the same, and few others: what does a second one add to the first?")


@apart.judge
def _(text):
    if type(text) is not str:
        yield "a text is due, one string"
    if not 0 < len(words := _words(text)) <= MOST:
        yield f"this text has {len(words)} distinct words; 1 to {MOST} are due"
    document, predict = _peaky().tokenizer.tokenize(text), _peaky().predict
    beta, _, _ = solution.lime(predict, document, all_masks(len(words)), "replace", 25, 0.0)
    phi = solution.shapley(predict, document, "replace")
    j = np.argmax(abs(beta - phi))
    if (distance := abs(beta - phi)[j]) < WANTED:
        yield (f"furthest apart is “{words[j]}”: LIME {beta[j]:+.2f}, Shapley {phi[j]:+.2f}, a distance of "
               f"{distance:.2f}; {WANTED} is due")


@apart.suspect
def _(text):
    if type(text) is not str:
        yield "Return the text itself, in quotes: the check cuts it into words."
    if not 0 < len(_words(text)) <= MOST:
        yield "Marks count as words, a word that comes again does not. (The two explainers were not asked yet.)"


apart.mistakes(
    ("These words disagree, and their effects add up all the same: the two explainers see a sum.",
     "Awful waste → not good"),
    ("Words that the model hardly reads have nothing to disagree about.", "Awful waste → the film"))
