"""The page of guarantees says which tests show what."""

from tests.guarantees import PAGE, named_on, shown_by


def test_the_page_names_only_tests_that_name_the_row() -> None:
    shown = shown_by()
    wrong = {
        row: [test for test in tests if test not in shown[row]] for row, tests in named_on(PAGE.read_text()).items()
    }
    assert {row: tests for row, tests in wrong.items() if tests} == {}, "python -m tests.guarantees renews it"


def test_a_row_that_tests_name_is_on_the_page_with_one_of_them() -> None:
    named = named_on(PAGE.read_text())
    assert [row for row in shown_by() if not named.get(row)] == [], "python -m tests.guarantees renews it"
