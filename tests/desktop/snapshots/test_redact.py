from user_handoff.desktop.snapshots.redact import bound, plain_keys, scrub, scrub_tree, withhold

PAGE = """- generic [active] [id=a.e1]:
  - textbox "Password" [id=a.e2]: hunter2 x
  - textbox "Code" [id=a.e3]: "424242"
  - textbox "Quoted" [id=a.e4]: "a: \\"b\\""
  - searchbox "Find" [id=a.e5]
  - textbox "Empty" [id=a.e6]:
    - /placeholder: Your name
  - textbox "Rich" [id=a.e7]:
    - paragraph: rich secret
  - combobox "Country" [id=a.e8]:
    - option "France" [selected]
  - link "Go" [id=a.e9]:
    - /url: /next?token=SECRET#frag
  - paragraph [id=a.e10]: "you typed hunter2 x and 424242"
"""


def test_every_editable_value_is_withheld() -> None:
    """B7, K40."""
    text, values = withhold(PAGE)
    for secret in ("hunter2", '"424242"', "rich secret", "a: "):
        assert secret not in text.replace("you typed hunter2 x and 424242", "")
    assert {"hunter2 x", "424242", 'a: "b"'} <= values


def test_a_value_that_the_page_repeats_is_scrubbed() -> None:
    """B7."""
    text, values = withhold(PAGE)
    assert "hunter2" not in scrub(text, values)
    assert "424242" not in scrub(text, values)


def test_a_field_still_says_that_it_is_filled() -> None:
    text, _ = withhold(PAGE)
    assert '- textbox "Password" [id=a.e2] [value withheld]' in text
    assert '- searchbox "Find" [id=a.e5]\n' in text


def test_placeholders_and_options_stay() -> None:
    text, _ = withhold(PAGE)
    assert "- /placeholder: Your name" in text
    assert '- option "France" [selected]' in text


def test_links_lose_query_and_fragment() -> None:
    text, _ = withhold(PAGE)
    assert "- /url: /next\n" in text


def test_text_over_the_bound_is_cut_at_a_line_and_says_so() -> None:
    text, cut = bound("\n".join(f"- text: line {n}" for n in range(1000)), 2000)
    assert cut
    assert len(text.encode()) <= 2000
    assert "lines cut" in text.split("\n")[-1]


def test_text_within_the_bound_stays_whole() -> None:
    assert bound("- text: a", 2000) == ("- text: a", False)


def test_a_name_with_a_colon_is_a_field_like_any_other() -> None:
    """B7, K40: the tree quotes the whole key then."""
    text, values = withhold(plain_keys("""  - 'textbox "It''s: a field" [id=a.e2]': hunter2 x"""))
    assert text == """  - textbox "It's: a field" [id=a.e2] [value withheld]"""
    assert values == {"hunter2 x"}


def test_a_value_that_is_a_word_of_the_tree_breaks_nothing_of_it() -> None:
    tree = '- text: my text\n- button "button text" [disabled] [id=abc.e1] [cursor=pointer]: a button'
    values = {"text", "button", "disabled", "abc", "pointer", "cursor"}
    assert scrub_tree(tree, values) == (
        '- text: my [withheld]\n- button "[withheld] [withheld]" [disabled] [id=abc.e1] [cursor=pointer]: a [withheld]'
    )


def test_a_value_in_brackets_is_no_state() -> None:
    assert scrub_tree('- text: "[id=hunter2]"\n- paragraph: "x" [hunter2]', {"hunter2"}).count("hunter2") == 0


def test_each_line_of_a_long_value_is_scrubbed_and_its_forms_too() -> None:
    values = {"Dear all,\n  the secret is here\n"}
    address = "- /url: /Dear%20all%2C%20the%20secret%20is%20here"
    said = f"- text: the secret is here\n- text: Dear all, the secret is here\n{address}"
    assert "secret" not in scrub_tree(said, values)
