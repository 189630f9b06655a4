"""What controls that delete or reset are called. See `phrases` for how it is written."""

DELETES_ACCOUNTS = """
[permanently|yes,] {delete|close|deactivate|erase|terminate|remove} [my|your|this|the|user] {account|profile|
organization|organisation|workspace|team|tenant|company} [permanently|forever|now|and data|and all data|
and all its data]
{delete|erase|wipe|destroy} {everything|all data|all my data|all of my data|my data|all content}
[mein|dieses|ihr] {konto|benutzerkonto|profil|account} [endgültig|dauerhaft|jetzt|unwiderruflich] {löschen|
schließen|deaktivieren}
{supprimer|fermer|désactiver|clôturer} [définitivement] {mon|le|votre|ce|son} {compte|profil|espace}
{eliminar|borrar|cerrar|desactivar} [permanentemente] [mi|la|tu|esta|el] {cuenta|perfil}
{elimina|cancella|chiudi|disattiva} [definitivamente] [il mio|il|l'|il tuo] {account|profilo}
elimina l'account
{excluir|apagar|eliminar|encerrar|desativar} [a|minha|sua|a minha|permanentemente] {conta|perfil}
[mijn|je] {account|profiel} [definitief] {verwijderen|opheffen|sluiten|deactiveren}
{usuń|zamknij|dezaktywuj|skasuj} [moje|swoje|na stałe] {konto|profil}
{radera|ta bort|avsluta|inaktivera} [mitt|ditt] {konto|kontot|profil}
{slet|slett|deaktiver|luk} [min|din|mitt] {konto|kontoen|profil}
{poista|sulje} [oma] {tili|tilini|käyttäjätili|käyttäjätilini}
{smazat|odstranit|zrušit|deaktivovat} [můj] {účet|profil}
[hesabımı|hesabı] {hesabımı|hesabı} [kalıcı olarak] {sil|kapat|devre dışı bırak}
{удалить|закрыть|деактивировать} [мой|навсегда|свой] {аккаунт|учётную запись|учетную запись|профиль|счёт}
видалити [мій] {обліковий запис|акаунт}
アカウントを{削除|削除する|閉鎖|閉鎖する|完全に削除|無効にする|解約する}
{删除账号|删除账户|注销账号|注销账户|永久删除账户|删除我的账户|刪除帳號|刪除帳戶|註銷帳號|停用帳戶}
{계정 삭제|계정 탈퇴|회원 탈퇴|탈퇴하기|계정 영구 삭제|계정 비활성화}
{حذف الحساب|حذف حسابي|إغلاق الحساب}
{מחק חשבון|מחיקת חשבון|סגירת חשבון}
"""

DELETES = """
[permanently|yes,] {delete|erase|destroy|wipe|purge} [permanently|forever|all|selected|now]
[permanently|yes,] {delete|erase|destroy|wipe|purge|drop} *
[i understand *] {delete|remove} {this|the} {repository|project|account|organization|app|site|workspace|database}
remove {permanently|forever|all|everything|from disk|account|device|domain|site|project|data|
all *|permanently *}
permanently remove *
move to {trash|bin|recycle bin}
{empty|clear} [the] {trash|bin|recycle bin}
clear {all|all data|history|database|all history|all records}
{discard|void} {all|invoice|draft|transaction|document}
[endgültig|dauerhaft|unwiderruflich|alle|alles|auswahl] löschen
* [endgültig|dauerhaft|unwiderruflich] löschen
papierkorb [leeren]
{supprimer|effacer} [définitivement|tout|tous|toutes|la sélection]
{supprimer|effacer} *
vider la corbeille
{eliminar|borrar} [permanentemente|todo|todos|definitivamente|selección]
{eliminar|borrar} *
vaciar [la] papelera
{elimina|cancella} {definitivamente|tutto|tutti|selezionati|file|elemento|messaggio|messaggi|progetto|dati}
elimina [*]
svuota [il] cestino
{excluir|apagar} [tudo|permanentemente|*]
esvaziar [a] lixeira
{verwijderen|wissen} [definitief]
* [definitief] {verwijderen|wissen}
prullenbak legen
{usuń|skasuj} [trwale|na stałe|wszystko|*]
opróżnij kosz
{radera|ta bort} [permanent|alla|allt|*]
töm papperskorgen
{slet|slett} [permanent|alle|alt|*]
{tøm papirkurv|tøm papirkurven}
poista [pysyvästi|kaikki|*]
tyhjennä roskakori
{smazat|odstranit} [trvale|vše|*]
vysypat koš
[kalıcı olarak|tümünü|hepsini] sil
* [kalıcı olarak] sil
çöpü boşalt
удалить [навсегда|всё|все|*]
очистить корзину
видалити [назавжди|все|*]
[完全に]{削除|削除する|消去|消去する}
*を[完全に]{削除|削除する|消去}
すべて{削除|削除する}
ゴミ箱を空にする
{删除|永久删除|彻底删除|全部删除|清空|清空回收站|清空数据|確認刪除|确认删除|刪除|永久刪除|全部刪除|清空垃圾桶}
{删除|刪除}*
{삭제|영구 삭제|모두 삭제|완전 삭제|삭제하기|휴지통 비우기}
* 삭제
{حذف|حذف نهائي|حذف الكل|مسح|إفراغ سلة المحذوفات}
حذف *
{מחק|מחיקה|מחק לצמיתות}
"""

DELETES_BY_LINK = """
[permanently|yes,] {delete|erase|destroy|wipe|purge} [permanently|forever|all|selected|now|this|it|item|file|
message|record|entry|project|post|comment|photo|image|row|draft|page|event|contact|address|repository|
database]
[endgültig] löschen
supprimer [définitivement]
{eliminar|borrar} [definitivamente]
elimina [definitivamente]
{excluir|apagar}
verwijderen
{usuń|skasuj}
{radera|ta bort}
{slet|slett}
poista
{smazat|odstranit}
sil
удалить [навсегда]
видалити
{削除|削除する}
{删除|刪除}
삭제
حذف
מחק
"""

RESETS = """
{factory|hard} reset
reset [to] {factory|factory settings|default settings|defaults|all settings|database|all data|everything|
account|device|the database}
{reset|reformat|format} {device|disk|drive|database|phone|partition}
{terminate|stop|shut down|power off|reboot|decommission|destroy} [this|the|all] {instance|instances|server|
servers|cluster|machine|vm|node|nodes|service|environment|droplet|pod}
{overwrite|restore} {all|all data|everything|database|backup|from backup|the database}
{truncate|drop} {table|tables|database|schema|collection}
{force push|force-push|merge and delete branch|roll back production|revert all}
{auf werkseinstellungen zurücksetzen|zurücksetzen auf werkseinstellungen|alle daten zurücksetzen}
{server herunterfahren|festplatte formatieren}
{réinitialiser [l'appareil|toutes les données|aux paramètres d'usine]|restaurer les paramètres d'usine}
{arrêter le serveur|formater *}
{restablecer [de fábrica|datos de fábrica|valores de fábrica|todo]|formatear *|apagar servidor}
{ripristina {impostazioni di fabbrica|dati di fabbrica|tutto}|formatta *}
{restaurar {padrões de fábrica|configurações de fábrica}|redefinir tudo|formatar *}
{fabrieksinstellingen herstellen|terugzetten naar fabrieksinstellingen|alles resetten}
{przywróć ustawienia fabryczne|resetuj urządzenie|formatuj *}
{återställ till fabriksinställningar|fabriksåterställning|nulstil til fabriksindstillinger}
{tilbakestill til fabrikkinnstillinger|palauta tehdasasetukset|obnovit tovární nastavení}
{fabrika ayarlarına sıfırla}
{сбросить до заводских настроек|сброс к заводским настройкам|сбросить всё|форматировать *}
{出荷時の設定に戻す|工場出荷状態に戻す|初期化する|初期化|すべてリセット}
{恢复出厂设置|重置所有数据|格式化|格式化磁盘|恢復原廠設定}
{공장 초기화|초기화|모두 초기화}
إعادة ضبط المصنع
"""
