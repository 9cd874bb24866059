"""credit_card, ssn, phone."""
LINES = {
"credit_card": r"""
card «pan» declined: insufficient funds
"number": "«pan»"
card_number=«pan»&exp=1228&cvc=‹n3›
PAN: «pansp»
pan=«pan» result=05
charge failed for «pandash»
<CardNumber>«pan»</CardNumber>
payment method «pansp» exp 11/28
cc: «pan»
amex «amexsp» refused
amex: «amex»
customer ‹name› ‹last› paid with «pansp»
INSERT INTO cards VALUES (‹n›, '«pan»', '12/28');
{"card":{"number":"«pan»","cvc":"‹n3›"}}
‹name› ‹last›,«pan»,2028-01
Karte: «pansp», gültig bis 04/29
validation: «pandash» fails for field cardNumber
refund to «jcb» pending
diners «diners» not supported
log: ccnum=«pan» avs=Y
visa «pan»
mastercard ending check: full number «pan»
POS terminal read «pan»
"primaryAccountNumber":"«pan»"
user typed '«pansp»' into the note field
order ‹n5› «pan» 49.90 EUR
cardnumber «amex» too short
card|«pan»|‹name›
carte bancaire «pansp» refusée
Tarjeta «pansp»
""",
"ssn": r"""
SSN: «ssn»
ssn=«ssn»
"ssn": "«ssn»"
{"ssn":"«ssn9»","dob":"1984-02-11"}
social security number «ssn»
Social Security No. «ssn»
employee ‹name› ‹last› «ssn» hired ‹day›
‹last›, ‹name›, «ssn», active
taxpayer id «ssn» mismatch
tin: «ssn»
<SSN>«ssn»</SSN>
duplicate key value violates unique constraint: (ssn)=(«ssn»)
W-2 box a: «ssn»
W2 for «ssn» rejected
applicant_ssn: «ssn»
SSN («ssn») not found
ssn «ssnsp»
SSN on file: «ssn9»
verify identity: last «ssn»
payroll import line ‹n›: «ssn» invalid check digit
INSERT INTO employees (name, ssn) VALUES ('‹name›', '«ssn»');
SELECT * FROM people WHERE ssn = '«ssn»'
GET /people?ssn=«ssn9»
patient ‹name› ‹last› (SSN «ssn»)
form 1040: «ssn»
claimant SSN «ssnsp»
ssn: '«ssn9»'
socialSecurityNumber="«ssn»"
dependents: ‹name› «ssn», ‹name› «ssn»
‹n5›|‹name›|«ssn»|CA
""",
"phone": r"""
phone: «usphone»
"phone": "«e164»"
phone_number=«e164»
SMS to «e164» failed: 21610 unsubscribed
twilio: To «e164» is not a valid phone number
call «usphone» for support
Tel: «dephone»
tel. «ukphone»
Mobile: «ukphone»
mobil «dephone»
Handy: «dephone»
Telefon: «dephone»
téléphone : «frphone»
portable «frphone»
teléfono: «esphone»
whatsapp «brphone»
celular: «brphone»
{"msisdn":"«e164»","status":"undelivered"}
contact ‹name› ‹last› at «usparen»
‹name› ‹last› «usdash»
‹name›;‹last›;«dephone»
fax: «usphone»
INSERT INTO contacts (name, phone) VALUES ('‹name›', '«usdash»');
mobile_number: «inphone»
<phone>«usphone»</phone>
whatsapp://send?phone=«e164»
user ‹user› changed phone from «e164» to «e164»
OTP sent to «inphone»
caller id «use164»
+ dialing «plphone»
Rufnummer «dephone» gesperrt
telefono «itphone»
电话: «cnphone»
тел. «ruphone»
emergency contact: ‹name›, «usphone»
my number is «usparen»
callback number «usdash»
電話 «jpphone»
reach me on «ukphone»
numéro «frphone»
""",
}
