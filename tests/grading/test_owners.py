"""Whose a hand-in is: what the platform wrote decides, what a student wrote never does."""

import pytest

from coursegrade.marking.owners import NOBODY, OTHER_NUMBER, TWO, TWO_WAYS, claim, keys

WHO = ("first_name", "last_name", "email", "lms_user_id")
PEOPLE = {name: dict(zip(WHO, about, strict=True)) for name, about in {
    "jdoe": ("Jane", "Doe", "jane.doe@example.org", "4711"), "x_y": ("Xavier", "Yáñez", "xy@example.org", "4712"),
    "ann1": ("Ann", "Lee", "ann1@example.org", "4713"), "ann2": ("Ann", "Lee", "ann2@example.org", "4714"),
    "squinn": ("Sam", "Quinn", "jdoe@elsewhere.org", "4799"), "petrov": ("Pyotr", "Petrov", None, None)}.items()}
A = "02_attention"


@pytest.mark.parametrize("entry, student", [
    ("jdoe.ipynb", "jdoe"), ("jdoe_02_attention.ipynb", "jdoe"), ("x_y.ipynb", "x_y"), ("jdoe.IPYNB", "jdoe"),
    ("x_y_02_attention-1.ipynb", "x_y"), ("02_attention (jdoe).ipynb", "jdoe"), ("02_attention_jdoe.ipynb", "jdoe"),
    ("jdoe (1).ipynb", "jdoe"), ("jane.doe@example.org", "jdoe"), ("Doe, Jane.zip", "jdoe"),
    ("jdoe-hw.ipynb", "jdoe"),
    ("doejane_LATE_4711_99_02_attention.ipynb", "jdoe"), ("yanezxavier_4712_2_a.ipynb", "x_y"),
    ("leeann_4714_1_a.ipynb", "ann2"), ("petrovpyotr_4720_1_a.ipynb", "petrov"),
    ("aaronsammy_4799_1_a.ipynb", "squinn"),
    ("doejane_4711_99_text.html", "jdoe"), ("doejane_4711_text.html", "jdoe"),
    ("Jane Doe_815_assignsubmission_file_", "jdoe"), ("Jane Doe_815_assignsubmission_file", "jdoe"),
    ("Jane Doe_815_assignsubmission_file_x_4712_9_x.ipynb", "jdoe"), ("Xavier Yáñez_8_assignsubmission_file_", "x_y"),
    ("02_attention.ipynb", None), ("02_attention (1).ipynb", None), ("nobody.ipynb", None),
    ("jdoe_4799_881_a.ipynb", "squinn")])
def test_the_beginning_says_whose_it_is(entry, student):
    assert claim(entry, keys(PEOPLE), A).owner == student


@pytest.mark.parametrize("entry, doubt", [
    ("Ann Lee_1_assignsubmission_file_", TWO), ("petrov_squinn.ipynb", TWO), ("jdoe_4712.ipynb", TWO),
    ("doejane_4712_99_a.ipynb", TWO), ("doejane_5555_99_a.ipynb", OTHER_NUMBER),
    ("doejane_4711_4799_881_a.ipynb", TWO_WAYS), ("doejane_4711_9911_x_4799_881_a.ipynb", TWO_WAYS),
    ("doejane_4711_815_02_attention_4799_881_02_attention.ipynb", TWO_WAYS), ("who_4711x_5_a.ipynb", NOBODY),
    ("aaronsammy_4801_881_jdoe.ipynb", NOBODY), ("musermax_5555_4711_02_attention.ipynb", NOBODY),
    ("Sammy Aaron_9_assignsubmission_file_jdoe.ipynb", NOBODY), ("Sammy Aaron_9_assignsubmission_file_", NOBODY),
    ("jdoe_9_assignsubmission_file_", NOBODY)])
def test_a_name_that_is_not_clear_is_nobodys(entry, doubt):
    found = claim(entry, keys(PEOPLE), A)
    assert found.owner is None and found.doubt == doubt


@pytest.mark.parametrize("entry", ["quinnsam_4799_881_jdoe.ipynb", "aaronsammy_4799_881_jdoe.ipynb",
                                   "musermax_5555_4711_02_attention.ipynb",
                                   "quinnsam_4799_881_jdoe_02_attention.ipynb"])
@pytest.mark.parametrize("known", [{}, {"first_name": "Jane", "last_name": "Doe"}])
def test_with_a_roster_of_little_a_file_name_gives_nothing(entry, known):
    people = {"jdoe": dict.fromkeys(WHO) | known, "squinn": dict.fromkeys(WHO)}
    assert claim(entry, keys(people), A).doubt == NOBODY


def test_one_hand_is_one_person_on_the_platform():
    def hand(entry):
        return claim(entry, keys(PEOPLE), A).hand

    assert hand("doejane_4711_815_a.ipynb") == hand("doejane_LATE_4711_999_b.py")
    assert hand("Jane Doe_815_assignsubmission_file_") == hand("Jane Doe_815_assignsubmission_onlinetext_")
    assert hand("Jane Doe_815_assignsubmission_file_") != hand("Jane Doe_816_assignsubmission_file_")
    assert hand("petrovpyotr_4720_1_a.ipynb") != hand("petrovpyotr_4721_1_a.ipynb")


def test_an_id_is_its_own_whatever_else_it_could_mean():
    people = PEOPLE | {"4711": dict.fromkeys(WHO)}
    assert claim("4711.ipynb", keys(people), A).owner == "4711" and claim("jdoe.zip", keys(people), A).owner == "jdoe"
    assert claim("doejane_4711_9_a.ipynb", keys(people), A).owner == "jdoe"


@pytest.mark.parametrize("entry, given, late", [
    ("doejane_LATE_4711_99_my_02_attention.ipynb", "my_02_attention.ipynb", True), ("jdoe.py", "", False),
    ("doejane_4711_99_helper.py", "helper.py", False), ("late_4711_99_helper.py", "helper.py", False),
    ("Jane Doe_815_assignsubmission_file_helper.py", "helper.py", False)])
def test_the_name_that_the_student_gave_and_the_platforms_mark_are_read(entry, given, late):
    found = claim(entry, keys(PEOPLE), A)
    assert (found.given, found.late) == (given, late)


def test_without_a_roster_a_name_is_an_id():
    assert claim("jdoe_02_attention.ipynb", {}, A).owner == "jdoe"
    assert claim("doejane_4711_99_a.ipynb", {}, A).owner is None
