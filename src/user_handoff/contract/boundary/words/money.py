"""What controls that pay, order or sign are called. See `phrases` for how it is written."""

PAYS = """
pay [now|securely|today|in full|bill|bills|invoice|balance|this invoice|the invoice|this bill|the bill|my bill|
deposit|fees|rent]
pay # [now|securely|today]
pay {with|by|via|using} [a|your|my] *
{buy|checkout|check out|donate} {with|using} {apple pay|google pay|g pay|paypal|shop pay|amazon pay|klarna|
link|venmo}
{make|submit|confirm|complete|authorize|authorise|approve|send|process|finalize} [a|the|your|my] {payment|
transaction|transfer|wire|remittance} [of|now] [#]
{confirm|agree|accept|review|save|submit|continue|order|book|reserve|subscribe|finish|sign|complete|
place order} {and|&} pay [now|#]
{swipe|slide|tap|click|hold|proceed|continue|add card and|go} [to] pay [now]
{send|transfer|wire|withdraw} [the] {money|funds|cash} [now|to *]
{send|transfer|wire|withdraw} # [now]
confirm {and|&} {send|transfer|withdraw}
{transfer|withdraw|donate} now
donate [now|monthly] #
{bezahlen|jetzt bezahlen|jetzt zahlen|zahlen|kostenpflichtig bezahlen|zahlung bestätigen|überweisen}
{überweisung {ausführen|bestätigen|freigeben|absenden}|geld {senden|überweisen}}
{mit {paypal|klarna|kreditkarte} {bezahlen|zahlen}}
# bezahlen
{payer|payer maintenant|régler|confirmer le paiement|valider le paiement|procéder au paiement}
{effectuer le {paiement|virement}|confirmer le virement|envoyer de l'argent|payer avec *|payer #}
{pagar|pagar ahora|confirmar pago|confirmar el pago|realizar pago|enviar dinero|transferir [ahora]}
{confirmar transferencia|pagar con *|pagar #|confirmar y pagar}
{paga|paga ora|paga adesso|conferma pagamento|effettua [il] pagamento|invia denaro|conferma bonifico}
{paga con *|paga #}
{pagar agora|confirmar pagamento|efetuar pagamento|realizar pagamento|enviar dinheiro}
{confirmar transferência|pagar com *}
{betalen|nu betalen|betaling bevestigen|geld overmaken|overmaken|betaal [nu]|betaal met *|betaal #}
{afrekenen en betalen}
{zapłać|zapłać teraz|opłać|potwierdź płatność|wyślij przelew|wykonaj przelew|zatwierdź przelew|płacę}
{kupuję i płacę|zamawiam i płacę|zapłać #}
{betala|betala nu|bekräfta betalning|skicka pengar|betala med *|överför [nu]|genomför betalning|genomför köp}
{betal|betal nu|bekræft betaling|bekreft betaling|overfør penge|overfør penger|send penge|send penger}
{betal med *|godkend betaling|godkjenn betaling}
{maksa|maksa nyt|vahvista maksu|lähetä rahaa|siirrä rahaa}
{zaplatit|zaplatit nyní|potvrdit platbu|odeslat platbu|odeslat peníze}
{öde|şimdi öde|ödeme yap|ödemeyi onayla|ödemeyi tamamla|para gönder}
{оплатить|оплатить сейчас|подтвердить платёж|подтвердить платеж|перевести|перевести деньги}
{отправить деньги|оплатить #|сплатити|підтвердити платіж|переказати}
{支払う|今すぐ支払う|お支払いを確定する|支払いを確定|支払いを確定する|支払いを完了する|送金する|送金|振り込む}
{支付|立即支付|确认支付|确认付款|立即付款|付款|转账|确认转账|去支付|支付#|立即付款|確認付款|確認支付|前往付款|轉帳|確認轉帳}
{결제하기|결제|지금 결제|결제 확인|송금하기|송금|이체하기|이체|# 결제하기}
{ادفع|ادفع الآن|دفع|الدفع الآن|تأكيد الدفع|إرسال الأموال|تحويل الأموال}
{שלם|שלם עכשיו|תשלום|אישור תשלום}
"""

ORDERS = """
{place|submit|confirm|complete|finalize|send} [the|your|my|this] {order|purchase|booking|reservation|bid|
trade|subscription|checkout} [now|#]
order {now|with obligation to pay}
{order|book} {and|&} {confirm|complete}
complete [your] {checkout|purchase}
reserve now
{confirm|place} [buy|sell|market|limit] order
{start|begin|activate|confirm|renew} [my|your|a|the] [paid|annual|monthly] {subscription|membership|plan}
{subscribe|upgrade} {for|at} # [per month|/ month|/month|a month|/mo|/year]
subscribe {and|&} *
{jetzt kaufen|kostenpflichtig bestellen|zahlungspflichtig bestellen|jetzt bestellen}
{bestellung {abschicken|absenden|aufgeben|abschließen|bestätigen}|kauf {abschließen|bestätigen}}
{verbindlich {bestellen|buchen}}
{jetzt {kostenpflichtig|zahlungspflichtig|verbindlich} {bestellen|buchen}|zahlungspflichtig buchen}
{kostenpflichtig buchen|buchung {bestätigen|abschließen}|gebot abgeben}
{passer [la|ma|votre|une] commande|commander|confirmer [la|ma|votre] commande}
{valider [la|ma|votre] commande|finaliser [la|ma|votre|l'] {commande|achat}|finaliser l'achat}
{confirmer l'achat|confirmer la réservation|commander maintenant}
{realizar [el|mi|tu] pedido|confirmar [el|mi|tu] {pedido|compra}|confirmar [la|mi|tu] {compra|reserva}}
{finalizar [la|el|mi|tu] {compra|pedido}|tramitar pedido|hacer [el] pedido}
{completar [la|el] {compra|pedido}}
{effettua [l'] ordine|effettua l'ordine|conferma [l'] ordine|conferma l'ordine|acquista ora}
{completa [l'] acquisto|completa l'acquisto|conferma acquisto|conferma l'acquisto|invia ordine}
{concludi ordine|ordine con obbligo di pagamento|conferma [la] prenotazione}
{finalizar {compra|pedido|encomenda}|confirmar {pedido|encomenda|compra|reserva}}
{fazer {pedido|encomenda}|concluir {compra|pedido|encomenda}|fechar pedido}
{bestelling plaatsen|bestellen|nu bestellen|bestelling bevestigen|bestelling afronden}
{bestellen en betalen|aankoop voltooien|aankoop bevestigen|koop nu|reservering bevestigen}
{bestelling met betalingsverplichting}
{złóż zamówienie|zamawiam|zamawiam z obowiązkiem zapłaty|potwierdź zamówienie|kupuję|potwierdź zakup}
{kup teraz|sfinalizuj zakup}
{slutför köp|slutför köpet|lägg beställning|beställ|bekräfta {köp|order|beställning|bokning}}
{slutför beställning|köp nu|lägg bud}
{gennemfør køb|afgiv ordre|bekræft {køb|ordre|bestilling}|fuldfør køb|fullfør kjøp|fullfør kjøpet}
{bekreft {kjøp|ordre|bestilling}|legg inn bestilling|legg inn bud|kjøp nå|køb nu}
{tilaa|tee tilaus|vahvista tilaus|lähetä tilaus|viimeistele tilaus|osta nyt}
{objednat|objednat s povinností platby|odeslat objednávku|potvrdit objednávku|dokončit objednávku}
{závazně objednat|koupit nyní}
{siparişi {tamamla|onayla|ver}|sipariş ver|satın almayı tamamla|şimdi satın al|hemen satın al|hemen al}
{оформить заказ|подтвердить заказ|заказать|сделать заказ|завершить покупку|подтвердить покупку}
{купить сейчас|оформить покупку|подтвердить бронирование|оформити замовлення|підтвердити замовлення}
{注文を確定する|注文を確定|注文する|ご注文を確定する|購入を確定する|購入を確定|購入手続きを完了する|今すぐ購入する|予約を確定する}
{提交订单|确认订单|下单|立即下单|确认购买|完成购买|提交訂單|確認訂單|送出訂單|確認購買|完成購買|下訂單}
{주문하기|주문 확정|주문 완료|구매 확정|구매하기|예약 확정}
{تأكيد الطلب|إتمام الشراء|إتمام الطلب|تأكيد الشراء}
{בצע הזמנה|אישור הזמנה|השלם רכישה}
"""

BUYS = """
buy [it|this] [now]
buy [now] {for|at} #
buy #
buy now #
{1-click|one-click} {buy|order|purchase}
sell [now|all]
place bid
{bid|purchase} [now]
{start|begin|try} [my|your] [#|free|30-day|14-day|7-day] [free] trial
{upgrade|subscribe} now
upgrade to {pro|premium|plus|business|enterprise|team}
{subscribe|start} to {pro|premium|plus}
{sofort kaufen|kaufen|jetzt abonnieren|verkaufen|jetzt upgraden}
{acheter|acheter maintenant|acheter cet article|s'abonner maintenant|vendre|enchérir}
{comprar|comprar ahora|comprar ya|cómpralo ya|suscribirse ahora|vender|pujar}
{acquista|compra ora|compralo subito|abbonati ora|vendi}
{comprar agora|compre já|assinar agora|comprar já}
{kopen|nu kopen|direct kopen|nu abonneren|verkopen}
{kup|sprzedaj|licytuj}
{köp|köp direkt|sälj|køb|kjøp|selg|sælg}
{osta|osta heti|myy}
{koupit|koupit ihned|prodat}
{satın al|sat|teklif ver}
{купить|купить в один клик|купить в 1 клик|продать|сделать ставку|купити|придбати}
{今すぐ購入|今すぐ買う|購入する|購入|入札する}
{立即购买|立即購買|购买|购买|購買|直接購買|买入|卖出|出价|立即訂閱|立即订阅}
{바로구매|바로 구매|구매|즉시구매|지금 구매|입찰하기}
{اشتر الآن|شراء|شراء الآن}
{קנה עכשיו|קנייה מיידית}
"""

CARD_FIELDS = """
[credit|debit|bank|your] card {number|no|security code|verification code|verification value}
{card number|cardnumber|name on card|cardholder name}
{cvv|cvc|csc|cvv2|cvc2} [code|/ *]
{kartennummer|kreditkartennummer|kartenprüfnummer|prüfnummer|prüfziffer}
{numéro de [la] carte|cryptogramme [visuel]}
{número de [la] tarjeta|código de seguridad de la tarjeta}
{número do cartão}
{numero [della] carta [di credito]}
{kaartnummer|creditcardnummer}
numer karty
{kortnummer|kortin numero|číslo karty|kart numarası}
{номер карты|номер картки}
{カード番号|クレジットカード番号}
{卡号|信用卡号|银行卡号|卡號|信用卡號碼}
카드 번호
رقم البطاقة
"""

SIGNS_CONTRACTS = """
{sign|e-sign|esign} [the|this|your|my] {contract|agreement|document|documents|lease|policy|form|offer|mandate|
petition|order}
{sign|agree|accept} {and|&} {sign|submit|continue to payment|finish|complete|send|return|order|buy|pay}
{click to sign|sign electronically|sign now|sign here|adopt and sign|adopt & sign|apply signature}
{finish signing}
{accept|agree to|i accept|i agree to} [the|this|our|all|these] {terms|terms and conditions|terms & conditions|
terms of service|terms of use|contract|agreement|offer|quote|quotation|proposal|estimate|license agreement|
eula|service agreement|user agreement} [and *]
i have read and {agree|accept} *
{cancel|terminate|end} [my|your|the|this] {subscription|membership|contract|order|booking|reservation|plan|
policy|lease|service}
{file|submit} [my|your|the] {tax return|taxes|claim|tax return now}
{vertrag {unterzeichnen|unterschreiben|abschließen|kündigen}|jetzt kündigen|abo kündigen}
{verbindlich unterschreiben|agb akzeptieren|angebot annehmen|elektronisch unterschreiben}
{bestellung stornieren|abonnement kündigen|mitgliedschaft kündigen|verträge hier kündigen}
{signer [le|ce] {contrat|document}|signer électroniquement|accepter l'offre}
{accepter les conditions [générales]|résilier [le|mon|votre] {contrat|abonnement}}
{annuler [la|ma] {commande|réservation}|se désabonner définitivement}
{firmar [el] {contrato|documento}|firmar electrónicamente|aceptar [la] oferta}
{aceptar [los] términos [y condiciones]|cancelar [la|mi] suscripción}
{cancelar [el|mi] {pedido|contrato}}
{firma [il] {contratto|documento}|accetta [l'] offerta|accetta l'offerta}
{accetta [i] termini [e condizioni]|annulla [l'] {abbonamento|ordine}|annulla abbonamento}
{disdici [contratto|abbonamento]}
{assinar [o] {contrato|documento}|aceitar [a] {oferta|proposta}|aceitar [os] termos [e condições]}
{cancelar [a] assinatura|cancelar [o] pedido}
{contract ondertekenen|document ondertekenen|ondertekenen|akkoord en ondertekenen|abonnement opzeggen}
{offerte accepteren|voorwaarden accepteren|bestelling annuleren}
{podpisz [umowę|dokument]|akceptuję regulamin|zaakceptuj ofertę|anuluj {subskrypcję|zamówienie}}
{zrezygnuj z subskrypcji}
{signera [avtal|avtalet|dokument]|skriv under|acceptera villkor|acceptera villkoren}
{avsluta {abonnemang|prenumeration}|säg upp *|underskriv [aftale]|signer {avtale|dokument}}
{opsig abonnement|si opp abonnement}
{allekirjoita [sopimus]|peruuta tilaus|hyväksy tarjous|podepsat [smlouvu|dokument]}
{zrušit {předplatné|objednávku}|přijmout nabídku}
{sözleşmeyi {imzala|onayla}|imzala|aboneliği iptal et|siparişi iptal et|teklifi kabul et}
{подписать [договор|документ]|принять {условия|оферту|предложение}|отменить {подписку|заказ}}
{підписати [договір|документ]|скасувати підписку}
{契約を締結する|契約する|署名する|電子署名する|利用規約に同意する|サブスクリプションを解約|サブスクリプションをキャンセル|定期購入を解約|注文をキャンセル|解約する}
{签署合同|签署|签署协议|电子签名|同意并签署|接受报价|取消订阅|取消订单|簽署合約|簽署|取消訂閱|取消訂單|接受報價}
{계약 체결|서명하기|서명|약관에 동의|구독 취소|구독 해지|주문 취소}
{توقيع العقد|إلغاء الاشتراك|إلغاء الطلب}
"""
