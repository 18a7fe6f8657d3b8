"""What lecture 01 says, run again: documentation of other packages, reviews from a grammar, sentences in eight
languages, other words, vocabularies, rules for ties and draws, two other classifiers.

What is counted on docstrings differs between versions of Python and of packages: those claims answer yes or no."""

import importlib.util
import random
from functools import cache
from itertools import accumulate
from math import inf, sqrt
from pathlib import Path

import torch

from coursekit.models import load_weights, sinusoidal_positions
from coursekit.text import BytePairTokenizer, WordPieceTokenizer, WordTokenizer, stdlib_english, word_groups
from coursekit.worlds import handwritten_reviews, reviews

from . import claim

SEEDS = range(1, 21)
PACKAGES = ["numpy", "matplotlib", "networkx", "IPython", "email", "asyncio"]
LEARNED = [["numpy", 1000], ["numpy", 8000], ["matplotlib", 2000], ["matplotlib", 4257], ["networkx", 1000],
           ["networkx", 8000], ["IPython", 2000], ["IPython", 4257]]             # from whose docstrings, and D
WORDS = ("un|happi|ness dis|agree|ment care|less|ly un|comfort|able break|able hope|ful teach|er over|cook|ed "
         "ir|regular mis|understand friend|ship end|less|ness un|avoid|able thank|ful|ness re|heat|ed dark|ness "
         "child|hood fear|less|ly im|polite play|ful|ly drink|able wait|ress heart|less star|less").split()
COMPOUNDS = {                                           # nine compounds each, as the lecture has them of another word
    "Kranken|versicherungs|karte": "Krankenhaus Krankenwagen Krankenpfleger Autoversicherungsamt "
    "Hausversicherungsbüro Lebensversicherungsgeld Postkarte Landkarte Fahrkarte",
    "Kinder|spielzeug|laden": "Kindergarten Kinderwagen Kinderarzt Holzspielzeugkiste Blechspielzeugauto "
    "Tierspielzeugfabrik Buchladen Blumenladen Teeladen",
    "Wasser|flaschen|verschluss": "Wasserhahn Wasserfall Wasserrad Glasflaschenregal Milchflaschenkorb "
    "Bierflaschenhals Türverschluss Schraubverschluss Deckelverschluss",
    "Bahnhofs|buch|handlung": "Bahnhofsuhr Bahnhofsplatz Bahnhofshalle Kochbuchseite Schulbuchpreis Tagebucheintrag "
    "Weinhandlung Eisenhandlung Kunsthandlung",
    "Garten|werkzeug|schuppen": "Gartenzaun Gartentor Gartenbank Handwerkzeugkoffer Elektrowerkzeugkiste "
    "Spezialwerkzeugsatz Holzschuppen Bootsschuppen Geräteschuppen",
    "Straßen|bahn|haltestelle": "Straßenlampe Straßennamen Straßenmusik Eisenbahnbrücke Rennbahnkurve Autobahnrasthof "
    "Bushaltestelle Taxihaltestelle Schulbushaltestelle",
    "Winter|schluss|verkauf": "Wintermantel Winterreifen Wintersport Ladenschlussgesetz Torschlusspanik "
    "Redaktionsschlusszeit Kartenverkauf Hausverkauf Flohmarktverkauf",
    "Apfel|kuchen|rezept": "Apfelbaum Apfelsaft Apfelmus Käsekuchenform Hochzeitskuchentafel Pflaumenkuchenblech "
    "Suppenrezept Salatrezept Arztrezept"}
SENTENCES = {                                           # the same ten sentences
    "English": ["The old dog sleeps under the table.", "Our train leaves at eight in the morning.",
                "She reads a book every week.", "Where is the nearest hospital, please?",
                "Open the file and read the first line.", "It has been raining since yesterday.",
                "My brother works in a small town.", "We have no money for a new car.",
                "The children are playing in the garden.", "I do not know what he wants."],
    "German": ["Der alte Hund schläft unter dem Tisch.", "Unser Zug fährt um acht Uhr morgens ab.",
               "Sie liest jede Woche ein Buch.", "Wo ist bitte das nächste Krankenhaus?",
               "Öffne die Datei und lies die erste Zeile.", "Es regnet seit gestern.",
               "Mein Bruder arbeitet in einer kleinen Stadt.", "Wir haben kein Geld für ein neues Auto.",
               "Die Kinder spielen im Garten.", "Ich weiß nicht, was er will."],
    "French": ["Le vieux chien dort sous la table.", "Notre train part à huit heures du matin.",
               "Elle lit un livre chaque semaine.", "Où est l'hôpital le plus proche, s'il vous plaît ?",
               "Ouvrez le fichier et lisez la première ligne.", "Il pleut depuis hier.",
               "Mon frère travaille dans une petite ville.", "Nous n'avons pas d'argent pour une nouvelle voiture.",
               "Les enfants jouent dans le jardin.", "Je ne sais pas ce qu'il veut."],
    "Spanish": ["El perro viejo duerme debajo de la mesa.", "Nuestro tren sale a las ocho de la mañana.",
                "Ella lee un libro cada semana.", "¿Dónde está el hospital más cercano, por favor?",
                "Abre el archivo y lee la primera línea.", "Llueve desde ayer.",
                "Mi hermano trabaja en una ciudad pequeña.", "No tenemos dinero para un coche nuevo.",
                "Los niños juegan en el jardín.", "No sé lo que quiere."],
    "Greek": ["Το γέρικο σκυλί κοιμάται κάτω από το τραπέζι.", "Το τρένο μας φεύγει στις οκτώ το πρωί.",
              "Διαβάζει ένα βιβλίο κάθε εβδομάδα.", "Πού είναι το πλησιέστερο νοσοκομείο, παρακαλώ;",
              "Άνοιξε το αρχείο και διάβασε την πρώτη γραμμή.", "Βρέχει από χθες.",
              "Ο αδελφός μου δουλεύει σε μια μικρή πόλη.", "Δεν έχουμε λεφτά για καινούργιο αυτοκίνητο.",
              "Τα παιδιά παίζουν στον κήπο.", "Δεν ξέρω τι θέλει."],
    "Russian": ["Старая собака спит под столом.", "Наш поезд отправляется в восемь утра.",
                "Она читает книгу каждую неделю.", "Скажите, пожалуйста, где ближайшая больница?",
                "Открой файл и прочитай первую строку.", "Со вчерашнего дня идёт дождь.",
                "Мой брат работает в маленьком городе.", "У нас нет денег на новую машину.",
                "Дети играют в саду.", "Я не знаю, чего он хочет."],
    "Hindi": ["बूढ़ा कुत्ता मेज़ के नीचे सोता है।", "हमारी रेलगाड़ी सुबह आठ बजे छूटती है।",
              "वह हर हफ़्ते एक किताब पढ़ती है।", "कृपया बताइए, सबसे नज़दीकी अस्पताल कहाँ है?",
              "फ़ाइल खोलो और पहली पंक्ति पढ़ो।", "कल से बारिश हो रही है।",
              "मेरा भाई एक छोटे शहर में काम करता है।", "हमारे पास नई गाड़ी के लिए पैसे नहीं हैं।",
              "बच्चे बगीचे में खेल रहे हैं।", "मुझे नहीं मालूम वह क्या चाहता है।"],
    "Chinese": ["老狗在桌子下面睡觉。", "我们的火车早上八点出发。", "她每周读一本书。", "请问最近的医院在哪里？",
                "打开文件，读第一行。", "从昨天起一直在下雨。", "我哥哥在一个小城市工作。", "我们没有钱买新车。",
                "孩子们在花园里玩。", "我不知道他想要什么。"]}
LATIN = ["German", "French", "Spanish"]


@cache
def documentation(package):
    """The docstrings of an installed package that read as English, chosen as the lecture's are."""
    files = Path(importlib.util.find_spec(package).origin).parent.rglob("[!_]*.py")
    return list(dict.fromkeys(text for folder in sorted({file.parent for file in files})
                              for text in stdlib_english(folder)))


@cache
def generated(seed):
    """As many reviews as the lecture has, of a grammar."""
    return [review.text for review in reviews(64, seed)]


def shuffled(texts, seed):
    """In another order; 0 is the lecture's."""
    return random.Random(seed).sample(texts, len(texts)) if seed else texts


def vocabulary(texts):
    """All words of the texts."""
    return {word for text in texts for word in WordTokenizer.split(text)}


def until(share, texts):
    """The first texts, which together have this share of the characters."""
    lengths = list(accumulate(map(len, texts)))
    return [text for text, length in zip(texts, lengths, strict=True) if length <= share * lengths[-1]]


def unknown(learned_from, texts):
    """The share of the texts' words that do not occur where the vocabulary was learned."""
    known, words = vocabulary(learned_from), [word for text in texts for word in WordTokenizer.split(text)]
    return sum(word not in known for word in words) / len(words)


@claim("01.1", "Characters level off: the second half of the text brings hardly a new one. It brings more than a "
       "thousand new words", over="20 other orders of the docstrings (hardly: up to five)", runs=SEEDS, here=0)
def new_in_the_second_half(page, seed):
    texts = shuffled(page.docs, seed)
    half = until(0.5, texts)
    characters = set("".join(texts)) - set("".join(half))
    return len(characters) <= 5 and len(vocabulary(texts) - vocabulary(half)) > 1000


@claim("01.2", "their line rises to the end: writers keep adding names, numbers, compounds and typing mistakes.",
       over="the documentation of six other packages: its last tenth brings 3 % of the words or more", runs=PACKAGES)
def words_do_not_stop(page, package):
    texts = documentation(package)
    return len(vocabulary(until(0.9, texts))) < 0.97 * len(vocabulary(texts))


@claim("01.3", "Documentation and reviews are written in different words",
       over="20 halves of the docstrings as vocabulary: reviews have four times the unknown words of the other half",
       runs=SEEDS)
def other_words(page, seed):
    texts = shuffled(page.docs, seed)
    half, rest = texts[:len(texts) // 2], texts[len(texts) // 2:]
    return min(unknown(half, page.reviews), unknown(half, generated(seed))) > 4 * unknown(half, rest)


@claim("01.4", "with the words of other documentation it is at least a fifth.",
       over="the documentation of six other packages, on our reviews and on 64 of a grammar", runs=PACKAGES)
def unknown_words(page, package):
    return min(unknown(documentation(package), texts) for texts in (page.reviews, generated(1))) >= 0.2


@claim("01.5", "but some word is always new.",
       over="20 halves of our reviews as vocabulary: the share of new words in the other half", runs=SEEDS,
       between=(0.01, 1))
def new_in_other_reviews(page, seed):
    texts = shuffled(page.reviews, seed)
    return unknown(texts[:32], texts[32:])


def cut_across(page, word, letters):
    """The word cut with its own pieces and these letters; and when a piece is added that ends in its second piece."""
    first, *rest = word.split("|")
    vocab = {first, *("##" + piece for piece in rest)} | letters
    return [page.cut_greedily(word.replace("|", ""), vocab | more) for more in (set(), {first + rest[0][0]})]


@claim("01.6", "a larger vocabulary turned a known word into an unknown one", over="24 other words", runs=WORDS)
def one_more_piece_and_lost(page, word):
    before, after = cut_across(page, word, set())
    return len(before) == word.count("|") + 1 and after == ["[UNK]"]


@claim("01.7", "It is not lost, because every letter is a piece, too.", over="the same 24 words, with every letter",
       runs=WORDS)
def not_lost_with_letters(page, word):
    letters = {mark + letter for letter in "abcdefghijklmnopqrstuvwxyz" for mark in ("", "##")}
    return cut_across(page, word, letters)[1] != ["[UNK]"]


@claim("01.8", "our function and coursekit's agree on every plain word of the docstrings.",
       over="eight vocabularies of other documentation, on the words of another package and of reviews", runs=LEARNED)
def cut_alike(page, run):
    wordpiece = WordPieceTokenizer.train(documentation(run[0]), run[1])
    words = vocabulary([*documentation("asyncio"), *page.reviews, *generated(1)])
    return all(page.cut_greedily(word, wordpiece.vocab) == wordpiece.tokenize(word)
               for word in words if word.isascii() and word.isalnum())


@claim("01.9", "Pieces are mostly not morphemes",
       over="eight vocabularies: of 24 words, a third or less of those that are cut are cut at the joints",
       runs=LEARNED)
def not_morphemes(page, run):
    wordpiece = WordPieceTokenizer.train(documentation(run[0]), run[1])
    cuts = {word: page.cut_greedily(word.replace("|", ""), wordpiece.vocab) for word in WORDS}
    cut = [word for word in WORDS if len(cuts[word]) > 1]
    return sum("|".join(cuts[word]).replace("##", "") == word for word in cut) <= len(cut) / 3


@claim("01.10", "Nine words chosen in this way are mostly enough to find the parts of a tenth word.",
       over="eight other words and nine compounds for each, 30 merges", runs=list(COMPOUNDS), at_least=6)
def cut_into_its_parts(page, word):
    german = BytePairTokenizer.train([COMPOUNDS[word]], 256 + 30 + 1)
    return [german.decode([i]) for i in german.encode(word.replace("|", ""))] == word.split("|")


@claim("01.11", "two dozen readable lines find the same merges as coursekit's.",
       over="ten sentences in each of eight languages, and eight sets of reviews of a grammar",
       runs=[*SENTENCES, *range(1, 9)])
def same_merges(page, run):
    texts, n = (SENTENCES[run], 40) if run in SENTENCES else (generated(run), 100)
    return page.names(page.learn_byte_pairs(texts, n)) == BytePairTokenizer.train(texts, 256 + n + 1).merges


KINDS = [[kind, seed] for kind in ("our reviews", "of a grammar") for seed in SEEDS]


def two_rules(page, kind, seed):
    """100 merges of some texts with the lecture's rule for ties, and with lots drawn among equals; and other texts."""
    rng, texts = random.Random(seed), shuffled(page.reviews, seed) if kind == "our reviews" else generated(seed)

    def drawn(counts):
        most = max(counts.values())
        return rng.choice([pair for pair in counts if counts[pair] == most])

    ours, theirs = [page.learn_byte_pairs(texts[:32], 100, best) for best in (page.most_frequent, drawn)]
    return page.names(ours), page.names(theirs), texts[32:]


@claim("01.12", "With other texts, and with lots drawn among equals, almost all merges agree, too",
       over="20 halves of our reviews, and 20 sets of 32 of a grammar: of 100 merges", runs=KINDS, between=(85, 100))
def merges_in_common(page, run):
    ours, theirs, _ = two_rules(page, *run)
    return len(set(ours) & set(theirs))


@claim("01.13", "Where some of them differ, mostly about half of the texts or more are cut differently.",
       over="the same 40, where all agreed other lots and texts: the share of 32 other reviews (.4 or more)",
       runs=KINDS, between=(0.4, 1), at_least=32)
def cut_differently(page, run):
    kind, seed = run
    draws = (two_rules(page, kind, seed + 100 * again) for again in range(20))
    ours, theirs, texts = next(draw for draw in draws if set(draw[0]) != set(draw[1]))
    return page.cut_differently(ours, theirs, texts) / len(texts)


@claim("01.14", "zlib, the compressor in ZIP files, does about as well on the docstrings and better on the reviews",
       over="the other 15 sixteenths of the docstrings (within 5 points), and 15 sets of reviews of a grammar",
       runs=range(1, 16), here=0)
def beside_zlib(page, k):
    _, docs, docs_zipped = page.shrunk(page.docs[k::16])
    _, coded, zipped = page.shrunk(generated(k) if k else page.reviews)
    return abs(docs - docs_zipped) <= 0.05 and zipped < coded


@claim("01.15", "The first 500 of 4,000 merges bring about half of the curve's rise, on the reviews more",
       over="merges of the documentation of five other packages (.45 to .55)",
       runs=["numpy", "matplotlib", "networkx", "IPython", "sklearn"])
def early_merges(page, package):
    texts = documentation(package)
    bpe = BytePairTokenizer.train(texts, 256 + 4000 + 1)
    curves = [page.shrunk(sample, bpe)[0] for sample in (texts[::16], page.reviews, generated(1))]
    own, *others = [(per_token[3] - 1) / (per_token[-1] - 1) for per_token in curves]
    return 0.45 < own < 0.55 and min(others) > own


@claim("01.16", "For every text, byte-level BPE gives the text back: decode(encode(text)) == text, whatever the merges "
       "are and wherever they were learned.", runs=SEEDS, over="20 times 100 merges, each drawn by lot among all pairs "
       "of the 80 sentences in eight languages, on these, our reviews and 200 texts of random characters")
def round_trip(page, seed):
    rng, texts = random.Random(seed), [sentence for of in SENTENCES.values() for sentence in of]
    bpe = BytePairTokenizer(page.names(page.learn_byte_pairs(texts, 100, lambda counts: rng.choice(list(counts)))))
    texts += ["".join(chr(rng.randrange(rng.choice([128, 0xD800]))) for _ in range(40)) for _ in range(200)]
    assert sum(len(bpe.encode(text)) < len(text.encode("utf-8")) for text in texts) > 80        # they are used
    return all(bpe.decode(bpe.encode(text)) == text for text in [*texts, *page.reviews])


@claim("01.17", "In pieces the reviews are shorter than in characters and longer than in words, and next to nothing "
       "is unknown.", runs=LEARNED,
       over="eight vocabularies of other documentation, on our reviews and on 64 of a grammar")
def between_characters_and_words(page, run):
    package, D = run
    for texts in (page.reviews, generated(1)):
        _, n, share = page.price(WordPieceTokenizer.train(documentation(package), D), texts)
        words = sum(len(page.words_of(text)) for text in texts)
        if not (words < n < sum(map(len, texts)) and share < 0.005):
            return False
    return True


@claim("01.18", "Give byte pairs the same start (last row), and they need no more.",
       over="eight vocabularies of other documentation, on our reviews and on 64 of a grammar", runs=LEARNED)
def the_same_start(page, run):
    docs = documentation(run[0])
    plain, wordpiece = BytePairTokenizer.train(docs, run[1]), WordPieceTokenizer.train(docs, run[1])
    bare = BytePairTokenizer.train([word for text in docs for word in page.words_of(text)], run[1])
    for texts in (page.reviews, generated(1)):
        words = [word for text in texts for word in page.words_of(text)]
        if not page.price(bare, words)[1] <= page.price(wordpiece, texts)[1] < page.price(plain, texts)[1]:
            return False
    return True


def cost(page, language, i):
    """What a sentence costs in tokens."""
    return len(page.bpe.encode(SENTENCES[language][i]))


@claim("01.19", "English is the cheapest here, as it mostly is;", over="ten other sentences in the eight languages",
       runs=range(10), at_least=8)
def english_is_cheapest(page, i):
    return min(SENTENCES, key=lambda language: cost(page, language, i)) == "English"


@claim("01.20", "In other sentences they mostly cost up to twice as much as English, and now and then less.",
       over="ten other sentences in German, French and Spanish: as much to twice as much", at_least=24,
       runs=[[language, i] for language in LATIN for i in range(10)])
def up_to_twice(page, run):
    return 1 <= cost(page, *run) / cost(page, "English", run[1]) <= 2


@claim("01.21", "In the other scripts every byte is a token of its own.",
       over="ten other sentences in Greek, Russian, Hindi and Chinese",
       runs=[[language, i] for language in SENTENCES if language not in ("English", *LATIN) for i in range(10)])
def a_token_a_byte(page, run):
    return cost(page, *run) == len(SENTENCES[run[0]][run[1]].encode("utf-8"))


@claim("01.22", "In the first two rows the gap is zero up to rounding, in the others it is not.",
       over="20 other lengths, widths, bases and draws: the smallest gap of the others, if the first two are zero",
       runs=SEEDS, between=(0.3, inf))
def only_the_distance(page, seed):
    rng, generator = random.Random(seed), torch.Generator().manual_seed(seed)
    T, d, base = rng.choice([16, 40, 100, 200]), rng.choice([8, 16, 48, 64, 128]), rng.choice([50, 500, 10**4, 10**5])
    P, wide = page.waves(T, d, base), page.waves(T, d + 2, base)
    other = sinusoidal_positions(T, d, base, order="cos-sin")
    added, learned = torch.randn(2, T, d, generator=generator)
    W_q, W_k = torch.randn(2, d, d, generator=generator) / sqrt(d)
    others = [page.gap(wide[:, 1:-1]), page.gap(learned), page.gap(P + added), page.gap(P @ W_q.T, P @ W_k.T)]
    return min(others) if max(page.gap(P), page.gap(other)) < 1e-3 else 0


@claim("01.23", "about half of the product or more is left at every distance.",
       over="seven widths from 48 to 1024 coordinates: the smallest share of the product at distance 0",
       runs=[48, 64, 96, 128, 256, 512, 1024], here=32, between=(0.45, 1))
def left_at_every_distance(page, d):
    P = page.waves(64, d, 100_000)
    return (P @ P[0]).min() / (P[0] @ P[0])


@claim("01.24", "The sum favours words that the tokenizer happened to cut small",
       over="20 draws of normal scores for the byte pairs of our reviews: in how many of 64 the winner of the sum has "
       "more pieces than that of the mean, less those where it has fewer", runs=SEEDS, between=(20, 64))
def winner_of_the_sum(page, seed):
    rng, bpe, more = random.Random(seed), BytePairTokenizer.train(page.reviews, 256 + 800 + 1), 0
    for text in page.reviews:
        pieces = bpe.tokenize(text)
        scores = [rng.gauss(0, 1) for _ in pieces]
        words = [[scores[place] for place in places] for _, places in word_groups(pieces)]
        by_sum, by_mean = max(words, key=sum), max(words, key=lambda s: sum(s) / len(s))
        more += (len(by_sum) > len(by_mean)) - (len(by_sum) < len(by_mean))
    return more


@cache
def changes(page, name, first):
    """(of the words that a classifier knows, of the others): what the score loses in 16 hand-written reviews."""
    model, known, new = load_weights(name), [], []
    for review in handwritten_reviews()[first:first + 16]:
        document = model.tokenizer.tokenize(review.text)
        for word, lost in zip(document, page.lost_by_word(model, document).tolist(), strict=True):
            (known if word in model.tokenizer.vocab else new).append(lost)
    return known, new


MODELS = [[name, first] for name in ("imdb-tame", "imdb-peaky", "imdb-6layer") for first in (0, 16, 32, 48)]


@claim("01.25", "replacing [UNK] by [UNK] changes nothing.",
       over="three classifiers, the unknown words of four times 16 hand-written reviews: the largest change",
       runs=MODELS, between=(0, 1e-5))
def unknown_by_unknown(page, run):
    return max(map(abs, changes(page, *run)[1]))


@claim("01.26", "A word that the model knows, such as the, hardly ever gets exactly 0.",
       over="three classifiers, the known words of four times 16 hand-written reviews: the share of zeros", runs=MODELS,
       between=(0, 0.01))
def known_is_not_zero(page, run):
    known = changes(page, *run)[0]
    return known.count(0) / len(known)
