"""What the controls of a sign-in are called. See `phrases` for how it is written."""

PASSWORD_FIELDS = """
[current|new|old|your|my|confirm|repeat|re-enter|enter|enter your|account|master|choose a|
create a] pass[ ]{word|code|phrase}
pass[ ]{word|code|phrase}
[aktuelles|neues|altes|ihr|dein] {passwort|kennwort}
[votre|nouveau|ancien] mot de passe
[tu|su|nueva|la] contraseña
[nuova|la tua] password
[sua|nova] senha
[nova] palavra-passe
[je|uw|nieuw|huidig] wachtwoord
[twoje|nowe] hasło
[nytt|ditt] lösenord
[ny|din] adgangskode
[nytt|ditt] passord
[uusi] salasana
[nové|vaše] heslo
[yeni] {şifre|parola}
[новый|ваш|введите] пароль
[новий|ваш] пароль
[新しい|現在の]パスワード
[请输入|登录|新]密码
[請輸入|登入|新]密碼
[새|현재] 비밀번호
비밀번호
كلمة {المرور|السر}
סיסמה
jelszó
κωδικός πρόσβασης
parolă
mật khẩu
kata sandi
รหัสผ่าน
"""  # noqa: S105 - what fields are called

CODE_FIELDS = """
[your|enter the|enter your|enter] [6-digit|six-digit] {one[- ]time|verification|authentication|authenticator|
security|confirmation|login|sms|2fa|mfa|otp|backup|recovery|access} {code|password|passcode|pin}
{one-time|onetime} {code|password|passcode|pin}
otp
{totp|tan|pin|2fa}[-| ][code]
{einmalcode|einmalpasswort|einmalkennwort|bestätigungscode|sicherheitscode|verifizierungscode|sms-code}
{pin-code}
code {de vérification|de sécurité|de confirmation|à usage unique|d'authentification}
código {de verificación|de seguridad|de confirmación|de un solo uso}
código {de verificação|de segurança|de confirmação}
codice {di verifica|di sicurezza|di conferma|otp|monouso}
{verificatiecode|beveiligingscode|eenmalige code|bevestigingscode}
kod {weryfikacyjny|sms|jednorazowy|autoryzacyjny}
{verifieringskod|engångskod|säkerhetskod|bekræftelseskode|engangskode|engangskode|bekreftelseskode}
{vahvistuskoodi|kertakäyttökoodi|ověřovací kód|jednorázový kód|bezpečnostní kód}
{doğrulama kodu|onay kodu|güvenlik kodu}
{код подтверждения|код из смс|одноразовый код|код безопасности|проверочный код|код підтвердження}
{認証コード|確認コード|セキュリティコード|ワンタイムパスワード|認証番号}
{验证码|短信验证码|动态密码|安全码|驗證碼|簡訊驗證碼}
{인증번호|인증 코드|보안 코드|일회용 비밀번호}
رمز {التحقق|التأكيد|الأمان}
קוד אימות
"""

CAPTCHA_CONTROLS = """
i'm not a robot
i am not a robot
i am human
verify [that] you are [a] human
verify you're human
confirm [that] you are [a] human
press & hold
press and hold
ich bin kein roboter
ich bin ein mensch
je ne suis pas un robot
je suis humain
no soy un robot
soy humano
não sou [um] robô
non sono un robot
ik ben geen robot
nie jestem robotem
jag är [inte en robot|ingen robot]
jeg er ikke en robot
nejsem robot
ben robot değilim
я не робот
я не робот
私はロボットではありません
{进行人机身份验证|我不是机器人|我不是自動程式|我不是機器人}
로봇이 아닙니다
أنا لست برنامج روبوت
"""

CAPTCHA_FIELDS = """
captcha [code|text]
enter [the] captcha
{type|enter} the {characters|letters|text|code|word|words|numbers} [that] you see *
{type|enter} the {characters|letters|text|code|word|words|numbers} {shown|in the image|in the picture|
from the image} [below|above]
{图形验证码|圖形驗證碼}
画像に表示されている文字*
"""

PASSKEYS = """
{sign in|log in|login|continue|verify|unlock|authenticate} {with|using} [a|your] {passkey|security key|
fingerprint|face id|touch id|windows hello|biometrics|hardware key} [or *]
use [a|your] {passkey|security key|fingerprint|face|face id|touch id|biometrics|screen lock} [or *|instead]
{mit [einem] passkey|mit sicherheitsschlüssel} {anmelden|fortfahren|einloggen}
passkey {verwenden|gebruiken|använd|brug|bruk|kullan|käytä}
{se connecter|continuer} avec une {clé d'accès|clé de sécurité}
utiliser une {clé d'accès|clé de sécurité}
{iniciar sesión|continuar|acceder} con [una] {llave de acceso|clave de acceso|clave de seguridad}
{accedi|continua} con [una] passkey
{entrar|continuar|iniciar sessão} com [uma] {chave de acesso|chave de segurança}
{inloggen|doorgaan} met [een] {passkey|toegangssleutel|beveiligingssleutel}
zaloguj [się] {kluczem dostępu|za pomocą klucza}
{войти|вход} {с ключом доступа|с помощью ключа доступа}
パスキー{でログイン|でサインイン|を使用|を使用する|を使う}
{使用通行密钥|使用通行密钥登录|使用密碼金鑰|使用密碼金鑰登入}
패스키{로 로그인| 사용|로 계속}
"""

_PROVIDER = (
    "{google|apple|facebook|microsoft|github|gitlab|linkedin|twitter|x|amazon|slack|okta|sso|paypal|yahoo|discord"
    "|saml|single sign-on|bankid|itsme|digid|wechat|kakao|line|naver|steam|bitbucket|work account|company account}"
)

SIGN_IN_WITH = f"""
{{sign in|sign-in|log in|login|continue|sign up|join|register|authenticate|connect}} {{with|via|using}} [your|
a|my] {_PROVIDER} [account|id]
{{sso|single sign-on}} [login|sign in]
{{mit|über}} {_PROVIDER}[-konto] {{anmelden|fortfahren|einloggen|registrieren}}
weiter mit {_PROVIDER}
{{se connecter|continuer|s'inscrire|s'identifier}} {{avec|via}} {_PROVIDER}
{{iniciar sesión|continuar|acceder|entrar|registrarse}} con {_PROVIDER}
{{accedi|continua|entra}} con {_PROVIDER}
{{entrar|continuar|iniciar sessão}} com [o|a] {_PROVIDER}
{{inloggen|doorgaan|aanmelden}} {{met|via}} {_PROVIDER}
{{kontynuuj|zaloguj [się]}} {{przez|z|za pomocą}} {_PROVIDER}
{{logga in|fortsätt|log ind|logg inn|fortsett|fortsæt}} {{med|via}} {_PROVIDER}
{{kirjaudu|jatka}} {_PROVIDER}[-tilillä|lla|llä]
{{přihlásit se|pokračovat}} {{přes|pomocí|účtem}} {_PROVIDER}
{_PROVIDER} ile {{giriş yap|devam et|oturum aç}}
{{войти|продолжить}} {{через|с помощью|с}} {_PROVIDER}
{_PROVIDER}{{で続行|でログイン|でサインイン| でログイン| でサインイン| で続行|アカウントで続行}}
{{使用|通过|用}} {_PROVIDER} {{登录|登入|账号登录|继续|帳戶登入}}
{_PROVIDER}{{로 로그인|으로 로그인|로 계속하기|로 시작하기| 계정으로 로그인}}
"""

SIGNS_IN = """
{sign in|sign-in|signin|log in|login|log on|logon}
{continue|next}
{anmelden|einloggen|weiter}
{se connecter|connexion|s'identifier|suivant}
{iniciar sesión|acceder|entrar|ingresar|siguiente}
{accedi|avanti|entra}
{iniciar sessão|seguinte|próxima}
{inloggen|aanmelden|volgende}
{zaloguj [się]|dalej}
{logga in|log ind|logg inn|nästa|næste|neste}
{kirjaudu [sisään]|seuraava}
{přihlásit [se]|další}
{giriş yap|oturum aç|ileri}
{войти|вход|далее|увійти}
{ログイン|サインイン|次へ}
{登录|登入|下一步}
{로그인|다음}
تسجيل الدخول
"""

NAMES_AN_ACCOUNT = """
[your|enter your] {e-?mail|email|user[ ]name|user id|login|account} [or phone|or phone number|or username|
address|or mobile number]
{benutzername|e-mail-adresse|kundennummer|anmeldename}
{identifiant|adresse e-mail|nom d'utilisateur}
{usuario|correo electrónico|nombre de usuario}
{nome utente|indirizzo email|utente}
{usuário|nome de utilizador|utilizador}
{gebruikersnaam|e-mailadres}
{nazwa użytkownika|login}
{användarnamn|brugernavn|brukernavn|käyttäjätunnus|uživatelské jméno|kullanıcı adı}
{логин|имя пользователя|электронная почта}
{ユーザー名|メールアドレス|ユーザーid}
{用户名|账号|手机号|使用者名稱|帳號}
{아이디|이메일}
اسم المستخدم
"""
