"""What controls that change accounts and rights are called. See `phrases` for how it is written."""

GRANTS = """
{allow|grant|authorize|authorise} [access|permission|permissions|app|application|connection|device|this app|
this device|* access|access to *]
{approve|confirm|give|share} {access|permission|permissions|consent|request|connection|authorization|
the request|access to *}
approve [and merge|all|selected|device|sign-in|login|this request|* request]
{authorize|authorise|allow} {application|app|this application|and continue|and install|*}
install {and|&} authorize
yes, {allow|grant|approve|authorize} *
{zugriff {erlauben|gewähren|zulassen|genehmigen|freigeben}|erlauben|zulassen|autorisieren|genehmigen}
{berechtigung {erteilen|gewähren}|freigeben|app autorisieren|anfrage genehmigen}
{autoriser [l'accès|l'application]|accorder l'accès|accorder l'autorisation|approuver [la demande]}
{donner accès}
{permitir [acceso|el acceso]|autorizar [aplicación|acceso]|conceder [acceso|el acceso|permiso]}
{aprobar [solicitud]|dar acceso}
{consenti [accesso|l'accesso]|autorizza [applicazione|app|accesso]|concedi [accesso|autorizzazione]}
{approva [richiesta]}
{permitir acesso|autorizar [aplicativo|acesso]|conceder [acesso|permissão]|aprovar [solicitação|pedido]}
{toegang {verlenen|toestaan|geven}|toestaan|autoriseren|goedkeuren|machtigen|verzoek goedkeuren}
{zezwól [na dostęp]|autoryzuj [aplikację]|przyznaj dostęp|udziel {dostępu|zgody}|zatwierdź [wniosek|prośbę]}
{tillåt [åtkomst]|godkänn [begäran|åtkomst]|bevilja åtkomst|auktorisera|ge åtkomst}
{tillad [adgang]|giv adgang|godkend [anmodning]|autoriser|tillat [tilgang]|gi tilgang|godkjenn [forespørsel]}
{salli [pääsy|käyttö]|hyväksy {pyyntö|käyttöoikeus}|myönnä {pääsy|käyttöoikeus}|valtuuta}
{povolit [přístup]|udělit {přístup|oprávnění|souhlas}|schválit [žádost|přístup]|autorizovat}
{izin ver|erişime izin ver|erişim izni ver|yetkilendir|onayla|yetki ver}
{разрешить [доступ]|предоставить {доступ|права|разрешение}|одобрить [запрос|заявку]|авторизовать}
{утвердить|дозволити [доступ]|надати доступ}
{許可|許可する|アクセスを許可|アクセスを許可する|承認|承認する|認可する|アクセス権を付与}
{允许|允许访问|授权|授予权限|同意授权|批准|授权并登录|允許|允許存取|授權|核准}
{허용|액세스 허용|권한 부여|승인|승인하기|접근 허용}
{السماح|السماح بالوصول|منح الوصول|تفويض|الموافقة على الطلب}
{אשר גישה|אפשר גישה|הרשה}
"""

CREDENTIALS = """
{change|update|reset|set|save|create|submit|confirm} [my|your|a|the|new] {password|passcode|pin|
security questions|recovery email|recovery phone|email address|email|phone number|username|mobile number|
primary email|login email} [now]
{enable|disable|turn on|turn off|set up|setup|activate|deactivate|remove|reset} [your|
the] {two-factor authentication|two-step verification|2-step verification|2fa|mfa|multi-factor authentication|
two-factor|authenticator|authenticator app|security key|passkey|sms verification} [now]
{add|create|register|remove|delete} [a|an|new|your|this] {passkey|security key|ssh key|gpg key|api key|
access key|secret key|signing key|api token|
access token|personal access token|deploy key|client secret|secret|app password|public key|trusted device|
recovery email|recovery phone}
{generate|regenerate|rotate|roll|reveal|show|view|copy|download|issue|renew} [a|new|the|your|my] {api key|
api token|access token|token|personal access token|secret|client secret|secret key|key pair|access key|
recovery codes|backup codes|credentials|app password|signing secret|new token|private key|key}
{sign out|log out} {of all|all|everywhere|all devices|all sessions|of all sessions|of all devices|
all other sessions}
{revoke|invalidate} *
{passwort|kennwort} {ändern|zurücksetzen|speichern|festlegen|aktualisieren}
{e-mail-adresse|telefonnummer|benutzername} ändern
{zwei-faktor-authentifizierung|2fa|bestätigung in zwei schritten} {aktivieren|deaktivieren|einrichten|
ausschalten}
{api-schlüssel|token|zugriffstoken|wiederherstellungscodes|backup-codes} {erstellen|generieren|anzeigen|
erzeugen|widerrufen}
{changer|modifier|réinitialiser|mettre à jour|enregistrer} [le|mon|votre] {mot de passe|adresse e-mail|
numéro de téléphone}
{activer|désactiver} [la|l'] {double authentification|authentification à deux facteurs|
validation en deux étapes}
{générer|créer|afficher|révoquer} [une|un|la|le|l'] {clé api|jeton|jeton d'accès|clé secrète|accès}
{cambiar|restablecer|actualizar|guardar} [la|mi|tu|el] {contraseña|correo electrónico|número de teléfono}
{activar|desactivar} [la] {autenticación en dos pasos|verificación en dos pasos|autenticación de dos factores}
{generar|crear|mostrar|revocar} [una|un|la|el] {clave api|clave de api|token|token de acceso|acceso}
{cambia|reimposta|aggiorna|modifica|salva} [la] {password|email}
{attiva|disattiva} [l'|la] {autenticazione a due fattori|verifica in due passaggi}
{genera|crea|mostra|revoca} {chiave api|token|accesso}
{alterar|redefinir|mudar|trocar|atualizar} [a|minha] {senha|palavra-passe|e-mail}
{ativar|desativar} [a] {verificação em duas etapas|autenticação de dois fatores}
{wachtwoord|e-mailadres} {wijzigen|resetten|opslaan|veranderen}
{tweestapsverificatie|tweefactorauthenticatie} {inschakelen|uitschakelen|instellen}
{zmień|zresetuj|ustaw} {hasło|adres e-mail|numer telefonu}
{włącz|wyłącz} {weryfikację dwuetapową|uwierzytelnianie dwuskładnikowe}
{ändra|byt|återställ|uppdatera} {lösenord|e-postadress}
{skift|nulstil|ændr|endre|bytt|tilbakestill} {adgangskode|passord|e-mail|e-postadresse}
{vaihda|nollaa} salasana
{změnit|obnovit|resetovat} heslo
{şifreyi|parolayı|şifre|parola} {değiştir|sıfırla|güncelle}
{изменить|сменить|сбросить|обновить|змінити} пароль
{включить|отключить} двухфакторную аутентификацию
{パスワードを変更|パスワードを変更する|パスワードをリセット|パスワードの変更|パスワードを更新|2段階認証を無効にする|2段階認証を有効にする|apiキーを生成|apiキーを作成|トークンを生成}
{修改密码|更改密码|重置密码|修改手机号|更换邮箱|开启两步验证|关闭两步验证|生成密钥|创建api密钥|生成令牌|變更密碼|重設密碼|更改密碼|產生金鑰}
{비밀번호 변경|비밀번호 재설정|2단계 인증 해제|2단계 인증 설정|api 키 생성|토큰 생성}
{تغيير كلمة المرور|إعادة تعيين كلمة المرور}
"""

ROLES = """
{invite|add|remove|delete|suspend|block|deactivate|ban|promote|demote} [a|new|this|team|the] {user|users|
member|members|admin|admins|administrator|owner|owners|collaborator|collaborators|people|teammate|teammates|
person|guest|guests|delegate|employee}
{make|set as|promote to|change to|add as} [an|a] {admin|administrator|owner|superuser|public}
{transfer|change} [the] {ownership|owner|visibility}
{change|update|edit|save|assign|modify} [a|the|user] {role|roles|permissions|permission|access|access rights|
privileges|sharing settings}
{send|accept|confirm} [the|an|your] {invitation|invite|invitations|invites|ownership}
{remove|revoke|withdraw|restrict} {access|permission|permissions|consent|from team|from organization}
{make|set} [this|repository|project|it|document] [to] public
{verify|confirm} [my|your] identity
{create|open} [an|my|your|a] {account|user|bank account|new account}
{benutzer|mitglied|administrator|nutzer} {einladen|hinzufügen|entfernen|löschen|sperren}
{zugriff|berechtigung|berechtigungen} {entziehen|ändern|widerrufen}
{rolle ändern|zum administrator machen|einladung {senden|annehmen}|eigentümer ändern}
{inhaberschaft übertragen|konto {erstellen|eröffnen}}
{inviter|ajouter|supprimer} [un|des|le] {utilisateur|utilisateurs|membre|membres|administrateur}
{retirer l'accès|révoquer l'accès|modifier le rôle|modifier les autorisations|transférer la propriété}
{accepter l'invitation|envoyer l'invitation|créer [un|mon] compte}
{invitar|añadir|agregar|eliminar} [un|al|a] {usuario|usuarios|miembro|miembros|administrador}
{revocar [el] acceso|quitar [el] acceso|cambiar [el] rol|transferir [la] propiedad}
{aceptar [la] invitación|enviar [la] invitación|crear [una|mi] cuenta}
{invita|aggiungi|rimuovi} {utente|utenti|membro|membri|amministratore}
{revoca [l'] accesso|modifica [il] ruolo|trasferisci [la] proprietà|accetta [l'] invito|accetta invito}
{invia invito|crea [un] account}
{convidar|adicionar|remover} {usuário|usuários|membro|membros|administrador|utilizador}
{revogar acesso|remover acesso|alterar função|transferir propriedade|aceitar convite|enviar convite}
{criar [uma] conta}
{gebruiker|gebruikers|lid|leden|beheerder} {uitnodigen|toevoegen|verwijderen}
{toegang intrekken|rol wijzigen|eigendom overdragen|uitnodiging {accepteren|versturen}|account aanmaken}
{zaproś|dodaj|usuń} {użytkownika|użytkowników|członka|administratora}
{cofnij dostęp|odbierz dostęp|zmień rolę|przenieś własność|przyjmij zaproszenie|wyślij zaproszenie}
{utwórz konto|załóż konto}
{bjud in|lägg till|ta bort} {användare|medlem|administratör}
{återkalla åtkomst|ändra roll|skapa konto|opret konto|opprett konto|luo tili|vytvořit účet|hesap oluştur}
{inviter|tilføj|fjern|legg til} {bruger|brugere|medlem|bruker|brukere|administrator}
{kutsu|lisää|poista} {käyttäjä|käyttäjiä|jäsen}
{pozvat|přidat|odebrat} {uživatele|člena|správce}
{kullanıcı|üye|yönetici} {davet et|ekle|kaldır}
{пригласить|добавить|удалить} {пользователя|пользователей|участника|участников|администратора}
{отозвать доступ|изменить роль|передать права|принять приглашение|отправить приглашение}
{создать {аккаунт|учётную запись|учетную запись}|зарегистрироваться}
{ユーザーを{招待|追加|削除}|メンバーを{招待|追加|削除}|アクセス権を削除|アクセスを取り消す|役割を変更|所有権を譲渡|招待を{送信|承認}|アカウントを作成|アカウント作成}
{邀请用户|添加用户|删除用户|移除成员|添加成员|邀请成员|撤销授权|更改角色|转让所有权|创建账户|创建账号|注册账号|邀請使用者|新增使用者|移除成員|撤銷存取權|建立帳戶}
{사용자 초대|사용자 추가|사용자 삭제|멤버 초대|멤버 추가|권한 변경|액세스 취소}
{소유권 이전|초대 수락|초대 보내기|계정 만들기}
"""
