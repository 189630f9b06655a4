"""E10: what asks for a secret in text, and what only speaks of one."""

import time
from typing import Literal

import pytest

from user_handoff.contract.secret_questions import asks_for_secret

ASKS = """
What is your password?
What's your password
Whats the password for the portal?
What is the current admin password?
What is your username and password?
WHAT IS YOUR PASSWORD?
What’s your **password**?
Please tell me your password.
Could you please send me the password?
Can you quickly share your login credentials?
Tell me the PIN.
Please give me your PIN code
Reply with the verification code.
Please reply with the 6-digit code.
Respond to this with the one-time code from your authenticator.
Send me the code you received by SMS.
Please paste the code that was sent to your phone here
Let me know the security code.
Let me know what your password is
Enter your password:
Please enter the verification code
Type your passcode here
Please type the password here so that I can sign in on the page.
I need your password to continue.
I need the six-digit code from your phone.
We require your credentials.
I'd like to have your recovery phrase.
May I have your password?
Can I get the 2FA code?
Could I please see the backup code?
Which password should I use?
What verification code did you get?
What code did you receive in your e-mail?
Do you know what the password is?
Password?
Your password, please
password:
Password for the portal?
Username and password?
Sign in at the portal. What is your one-time password?
The portal asks for a code. Please send me the code that was texted to you.
What is your credit card number?
Please provide your card details and the CVV.
What is your mother's maiden name?
Give me your API key
Please share the private key
Send us the session token
Share your session cookie with me
What is the answer to your security question?
Why don't you just tell me your password?
Can't you send me the code from the SMS?
I want you to send me your password
You must give me your password
Don't worry, just tell me your password.
I can't sign in, so please tell me your password
Don't send it by mail; tell me your password here.
If it is easier, tell me the password
What is your social security number?
Wie lautet dein Passwort?
Bitte nenne mir das Kennwort
Bitte schicken Sie mir den Bestätigungscode
Was ist die SMS-TAN?
Quel est votre mot de passe ?
Envoyez-moi le code de vérification
¿Cuál es tu contraseña?
Dime tu contraseña
What is your pass\u200bword?
""".strip().splitlines()

FINE = """
Please sign in to the portal.
Sign in with your password in the browser window.
Enter your password in the browser.
Please type the verification code into the page.
Please enter the code there.
The page asks for a password. Can you sign in?
A password is needed. Shall I hand the browser over to you?
Is the password field visible?
Did you change your password?
Did you enter your password?
Have you signed in with the one-time code?
When you enter your password, the page reloads; is that right?
Should I click "Forgot password"?
Forgot password?
Password reset?
Shall I reset the password?
Should I save the password in the browser?
What is the password policy?
What is the password field called?
Which password manager do you use?
How long must the password be?
What are the password requirements?
Don't send me your password.
Please never tell me your password.
Do not enter your password here.
You don't have to tell me your password.
I will never need your password.
I do not need your password.
The site will send you a verification code.
They will send the verification code by SMS.
The bank sends a code to your phone.
Please do not reply with the code.
What is wrong with the password?
What is the problem with the password?
Why does the page want a password?
What is your postal code?
What is the error code?
Which discount code should I use?
What is the zip code of the delivery address?
What is the name of the API key that failed?
Which API key name should I select?
What is your name?
What is the invoice number?
What is your phone number?
Which account should I open?
Should I accept all cookies?
Shall I pin this tab?
Which tab should I pin?
What is your opinion?
Share the report with me
Send me the invoice
Tell me which invoice you want
Please tell me whether the password field is shown.
Tell me when you have entered the code in the browser.
Tell me if the page asks for a password.
Please let me know once you have changed your password.
Which of the two pages asks for a verification code?
The verification code was wrong. Shall I ask for another?
I need a person because the page asks for a password.
I need you to enter your password in the browser.
Can you enter the code on the page?
What is the export code for invoices?
Is the security code field required?
Can you spin up the report?
Share the Pakistan report with me
Please share the security code review
Send me the password-protected file
Please confirm that the password field is shown
Please confirm you know the password by heart.
Give me the pins of the map
What is the stance of the company?
Bitte gib dein Passwort im Browser ein.
Nenne mir niemals dein Passwort.
Welche Rechnung soll ich exportieren?
Ne m'envoyez jamais votre mot de passe
No me digas tu contraseña
""".strip().splitlines()


@pytest.mark.parametrize("text", ASKS)
def test_a_question_that_asks_for_a_secret_is_seen(text: str) -> None:
    assert asks_for_secret(text)


@pytest.mark.parametrize("text", FINE)
def test_a_question_that_only_speaks_of_one_is_let_through(text: str) -> None:
    assert not asks_for_secret(text)


@pytest.mark.parametrize(
    ("text", "kind", "asks"),
    [
        ("Enter your password", "question", True),
        ("Enter your password", "todo", False),
        ("Confirm the payment with your PIN", "todo", False),
        ("Type the code from your phone", "todo", False),
        ("Type the code from your phone here", "todo", True),
        ("Send me the code from your phone", "todo", True),
        ("Password", "todo", False),
        ("What is your password?", "todo", True),
    ],
)
def test_a_todo_is_done_in_the_browser(text: str, kind: Literal["question", "todo"], asks: bool) -> None:
    assert asks_for_secret(text, kind) is asks


@pytest.mark.parametrize("text", ["please tell " * 330, "what is the " * 330, "code " * 800, "a" * 4000, "," * 4000])
def test_the_longest_text_takes_no_time(text: str) -> None:
    began = time.thread_time()
    asks_for_secret(text[:4000])
    assert time.thread_time() - began < 1
