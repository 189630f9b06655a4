"""The built-in stop list, on by default. Each rule can be switched off, or given more names, by its id."""

from typing import Final

from user_handoff.contract.boundary.phrases import starting, whole
from user_handoff.contract.boundary.rules import AnyRule, Category, ControlRule, UrlRule, WallRule
from user_handoff.contract.boundary.words import authentication, destruction, money, rights

_BUTTONS = "button|menuitem|switch|checkbox|radio"
_ANY = f"{_BUTTONS}|link"
_FIELDS = "textbox|searchbox|spinbutton|combobox"

_AUTHENTICATION: tuple[AnyRule, ...] = (
    ControlRule(
        rule_id="sign-in-password",
        role="textbox",
        name=starting(authentication.PASSWORD_FIELDS),
        fields=("type:password", "autocomplete:current-password", "autocomplete:new-password"),
    ),
    ControlRule(
        rule_id="sign-in-code",
        role=_FIELDS,
        name=starting(authentication.CODE_FIELDS),
        fields=("autocomplete:one-time-code",),
    ),
    ControlRule(rule_id="captcha", role=_BUTTONS, name=whole(authentication.CAPTCHA_CONTROLS)),
    ControlRule(rule_id="captcha-field", role=_FIELDS, name=starting(authentication.CAPTCHA_FIELDS)),
    ControlRule(rule_id="passkey", role=_ANY, name=whole(authentication.PASSKEYS)),
    ControlRule(rule_id="sign-in-with", role=_ANY, name=whole(authentication.SIGN_IN_WITH), page=False),
    ControlRule(rule_id="sign-in-submit", role=_BUTTONS, fields=("form:password", "form:one-time-code"), page=False),
    UrlRule(rule_id="captcha-recaptcha", glob="https://*/recaptcha/**", frames=True, refuses=True),
    UrlRule(rule_id="captcha-hcaptcha", glob="https://*.hcaptcha.com/**", frames=True, refuses=True),
    UrlRule(rule_id="captcha-turnstile", glob="https://challenges.cloudflare.com/**", frames=True, refuses=True),
    UrlRule(rule_id="captcha-arkose", glob="https://*.arkoselabs.com/**", frames=True, refuses=True),
    UrlRule(rule_id="captcha-funcaptcha", glob="https://*.funcaptcha.com/**", frames=True, refuses=True),
    WallRule(),
)

_FINANCIAL: tuple[AnyRule, ...] = (
    ControlRule(rule_id="pay", category=Category.FINANCIAL, role=_ANY, name=whole(money.PAYS)),
    ControlRule(rule_id="order", category=Category.FINANCIAL, role=_ANY, name=whole(money.ORDERS)),
    ControlRule(rule_id="buy", category=Category.FINANCIAL, role=_ANY, name=whole(money.BUYS), page=False),
    ControlRule(
        rule_id="card-details",
        category=Category.FINANCIAL,
        role=_FIELDS,
        name=starting(money.CARD_FIELDS),
        fields=("autocomplete:cc-number", "autocomplete:cc-csc", "autocomplete:cc-exp", "autocomplete:cc-name"),
    ),
    ControlRule(
        rule_id="contract", category=Category.FINANCIAL, role=_ANY, name=whole(money.SIGNS_CONTRACTS), page=False
    ),
)

_DESTRUCTIVE: tuple[AnyRule, ...] = (
    ControlRule(
        rule_id="delete-account",
        category=Category.DESTRUCTIVE,
        role=_BUTTONS,
        name=whole(destruction.DELETES_ACCOUNTS),
    ),
    ControlRule(
        rule_id="delete-account-link",
        category=Category.DESTRUCTIVE,
        role="link",
        name=whole(destruction.DELETES_ACCOUNTS),
        page=False,
    ),
    ControlRule(
        rule_id="delete", category=Category.DESTRUCTIVE, role=_BUTTONS, name=whole(destruction.DELETES), page=False
    ),
    ControlRule(
        rule_id="delete-link",
        category=Category.DESTRUCTIVE,
        role="link",
        name=whole(destruction.DELETES_BY_LINK),
        page=False,
    ),
    ControlRule(
        rule_id="reset", category=Category.DESTRUCTIVE, role=_BUTTONS, name=whole(destruction.RESETS), page=False
    ),
)

_ACCOUNT: tuple[AnyRule, ...] = (
    ControlRule(rule_id="grant-access", category=Category.ACCOUNT, role=_BUTTONS, name=whole(rights.GRANTS)),
    ControlRule(
        rule_id="credentials", category=Category.ACCOUNT, role=_BUTTONS, name=whole(rights.CREDENTIALS), page=False
    ),
    ControlRule(rule_id="roles", category=Category.ACCOUNT, role=_BUTTONS, name=whole(rights.ROLES), page=False),
)

BUILT_IN: Final[tuple[AnyRule, ...]] = (*_AUTHENTICATION, *_FINANCIAL, *_DESTRUCTIVE, *_ACCOUNT)
"""Where an agent stops unless the desktop's policy says otherwise."""
