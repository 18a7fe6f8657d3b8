"""What is asked in "Attention, explained?": a folder an assignment, NN_topic, with what is expected of each answer and
what is said of a wrong one; `quizzes/`, a file a lecture; `exams/`, examinations on paper; what several assignments
share. CONTRIBUTING.md says how one is made.

And here what `coursegrade` must know of this course: see coursegrade/courses.py.
"""

from coursekit import __version__

TOPICS = {name.partition("_")[2]: name for name in (
    "01_tokens",
    "02_attention",
    "03_gpt2",
    "03b_families",
    "04_decoding",
    "05_reading_attention",
    "05b_one_map",
    "06_gradients",
    "07_perturbation",
    "08_theory",
    "09_slalom",
    "10_debate",
    "11_histogram",
    "12_dyck",
    "13_autoencoders",
    "14_evaluation",
    "15_people",
)}

VERSION = __version__                   # of the course: with another one, everything is marked anew
PACKAGES = ["coursekit"]                # what student code may read and import, whole …
SHOWN = ["__init__.py", "audit.py", "gpt2_weights.py"]                  # … and of this package

# What students are given beside the packages: files and folders of the course, but for what authors and teachers need.
FILES = ["LICENSE", "SYLLABUS.md", "Makefile", "pyproject.toml", "constraints.txt", "environment.yml"]
FOLDERS = ["lectures", "docs", "tools"]
NEVER = ["exercises.py", "mutants.py", "new_assignment.py", "skeleton"]
TEACHERS = ["docs/teaching.md", "docs/jupyterhub.md", "docs/january.md", "docs/oral.md", "docs/security.md",
            "docs/upkeep.md", "docs/notes/", "docs/print/", "docs/slides/", "docs/site/", "attention_questions/exams/"]
