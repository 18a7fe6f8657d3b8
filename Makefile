# The course's commands; `make help` lists them. They work with any make, GNU or BSD.
# Another Python:  make lab PYTHON=python3.12        One lecture:  make lectures ONLY=02

PYTHON = python3
ONLY =
ORIGINALS =
TRACK =
NEW =
AGAIN =
N = 300
SEED = 0
PY = .venv/bin/python
ONE_THREAD = OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false

help:
	@echo 'make lab        set up, and open JupyterLab on your own copy of the first lecture, in my/ (ORIGINALS=1: on lectures/)'
	@echo 'make work       only make or renew your own copies of lectures and assignments, in my/'
	@echo 'make progress   what you have done in my/, and what comes next (TRACK=weekend: of one of docs/alone.md)'
	@echo 'make test       set up, and run the tests (about 12 minutes on two cores)'
	@echo 'make test-fast  the same without notebooks, sandbox, browser, bank and peers (about 2 minutes)'
	@echo 'make test-all   every test there is, by hand and before a release (an hour or more)'
	@echo 'make lint       set up, and look over the Python files with ruff, and over types with mypy'
	@echo 'make setup      only set up: builds .venv, or brings it up to date'
	@echo 'make run        execute every lecture; print seconds and peak memory of each'
	@echo 'make lectures   execute the lectures in place, ready to commit (ONLY=02: just that one)'
	@echo 'make claims     try what the lectures say on other texts and seeds, where no result is current (ONLY=02)'
	@echo 'make claims-all the same, with those that train for minutes (AGAIN=1: also where a result is current)'
	@echo 'make claim      NEW=08.3: begin a claim, the third of lecture 08'
	@echo 'make book       make the static pages, build/book/, from the executed lectures'
	@echo 'make slides     make a deck for each lecture: build/slides/ (ONLY=02: just that one)'
	@echo 'make exercises  make exercises/ from solutions/, and what checks compare with (ONLY=02: just that one)'
	@echo 'make grade      mark what was handed in (grading/inbox/): marks, feedback, tables (ONLY=02: that assignment)'
	@echo 'make mutants    change N lines of the core, one at a time, and see which changes no test notices (by hand, hours)'
	@echo 'make bench      the speed of coursekit beside the tools it is compared with'

setup:
	@command -v $(PYTHON) >/dev/null || { echo 'There is no $(PYTHON) here: install Python 3.11 or newer.' >&2; exit 1; }
	@$(PYTHON) tools/setup.py

lab: setup
	@root=; [ "$$(id -u)" != 0 ] || root=--allow-root; \
	my=; [ -n "$(ORIGINALS)" ] || { my=my/; $(PY) tools/work.py --quiet || exit 1; }; \
	JUPYTER_CONFIG_PATH="$$PWD/tools/jupyter" $(PY) -m jupyterlab $$root --ServerApp.root_dir=. \
	    $${my}lectures/00_welcome.ipynb

work: setup
	@$(PY) tools/work.py

progress: setup
	@$(PY) -m tools.progress $(TRACK)

TESTS = $(ONE_THREAD) $(PY) -m pytest tests -n auto --dist loadgroup --no-loadscope-reorder

test: setup
	$(TESTS) -m 'not slow'

test-fast: setup
	$(TESTS) -m 'not (slow or bank or notebook or sandbox or browser or peers)'

test-all: setup
	$(TESTS) --everything

lint: setup
	@$(PY) -m ruff check .
	@$(PY) -m mypy

run: setup
	@$(ONE_THREAD) $(PY) -m tools.notebooks run $(ONLY)

lectures: setup
	@$(ONE_THREAD) $(PY) -m tools.notebooks execute $(ONLY)

claims: setup
	@again='$(AGAIN)'; $(ONE_THREAD) $(PY) -m claims run $(ONLY) $${again:+--again}

claims-all: setup
	@again='$(AGAIN)'; $(ONE_THREAD) $(PY) -m claims run $(ONLY) --all $${again:+--again}

claim: setup
	@[ -n '$(NEW)' ] || { echo 'Say which: make claim NEW=08.3'; exit 1; }
	@$(PY) -m claims new $(NEW)

book: setup
	@$(ONE_THREAD) $(PY) -m tools.book
	@echo 'build/book/index.html is the first page. To see them: $(PY) -m http.server -d build/book'

slides: setup
	@$(PY) -m tools.slides $(ONLY)

exercises: setup
	@$(PY) -m tools.exercises $(ONLY)

grade: setup
	@$(PY) -m coursegrade doctor
	@for step in grade feedback export; do \
	    $(ONE_THREAD) $(PY) -m coursegrade $$step $(ONLY) || exit 1; \
	done

mutants: setup
	@$(PY) -m tools.mutants -n $(N) --seed $(SEED)

bench: setup
	@for file in bench/[!_]*.py; do \
	    [ -e "$$file" ] || { echo 'There is nothing in bench/ yet.'; exit 1; }; \
	    name=$$(basename "$$file" .py); echo; echo "== bench.$$name"; \
	    $(ONE_THREAD) $(PY) -m bench.$$name || exit 1; \
	done

.PHONY: help setup lab work progress test test-fast test-all lint run lectures claims claims-all claim book slides exercises grade mutants bench
