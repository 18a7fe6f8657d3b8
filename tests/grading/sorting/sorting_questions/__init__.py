"""What is asked in the course on sorting, and what coursegrade must know of it."""

TOPICS = {"sorting": "01_sorting"}
VERSION = "1.0"
PACKAGES = ["sorting"]
SHOWN = ["__init__.py"]
FILES = ["pyproject.toml"]
FOLDERS = ["lessons"]
NEVER = []
TEACHERS = ["lessons/for_teachers.md"]
