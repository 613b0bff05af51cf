"""Names of places that people search by. Only to see that a word is a place, so that it may stand before or after its subject;
whether two places are the same is decided by their names alone."""

_SINGLE = """
    afghanistan albania algeria andorra angola argentina armenia australia austria azerbaijan bahamas bahrain bangladesh
    barbados belarus belgium belize benin bhutan bolivia bosnia botswana brazil brunei bulgaria burundi cambodia cameroon
    canada chile china colombia congo croatia cuba cyprus czechia denmark djibouti ecuador egypt eritrea estonia ethiopia
    fiji finland france gabon gambia germany ghana greece greenland grenada guatemala guinea guyana haiti honduras hungary
    iceland india indonesia iran iraq ireland israel italy jamaica japan kazakhstan kenya kosovo kuwait kyrgyzstan laos
    latvia lebanon lesotho liberia libya lithuania luxembourg madagascar malawi malaysia maldives mali malta mauritania
    mauritius mexico moldova monaco mongolia montenegro morocco mozambique myanmar namibia nepal netherlands nicaragua
    niger nigeria norway oman pakistan palestine panama paraguay peru philippines poland portugal qatar romania russia
    rwanda samoa senegal serbia seychelles singapore slovakia slovenia somalia spain sudan suriname swaziland sweden
    switzerland syria taiwan tajikistan tanzania thailand togo tonga trinidad tunisia turkey turkmenistan uganda ukraine
    uruguay uzbekistan vanuatu venezuela vietnam yemen zambia zimbabwe usa uk uae england scotland wales europe asia
    africa america
    alabama alaska arizona arkansas california colorado connecticut delaware florida georgia hawaii idaho illinois
    indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi missouri montana
    nebraska nevada ohio oklahoma oregon pennsylvania tennessee texas utah vermont virginia washington wisconsin wyoming
    ontario quebec alberta manitoba saskatchewan
    amsterdam ankara athens atlanta auckland austin baghdad baltimore bangalore bangkok barcelona beijing beirut belfast
    berlin birmingham bogota boston brisbane bristol brussels bucharest budapest busan cairo calgary cardiff charlotte
    chennai chicago cincinnati cleveland copenhagen dallas delhi denver detroit dhaka dubai dublin edinburgh frankfurt
    geneva glasgow hamburg hanoi helsinki honolulu houston hyderabad incheon indianapolis istanbul jaipur jakarta
    jerusalem johannesburg karachi kathmandu kiev kolkata kyiv kyoto lagos lahore lima lisbon liverpool london lyon
    madrid manchester manila marseille melbourne memphis miami milan milwaukee minneapolis montreal moscow mumbai munich
    nagoya nairobi naples nashville orlando osaka oslo ottawa oxford paris perth philadelphia phoenix pittsburgh portland
    prague pune riyadh rome sacramento santiago sapporo seattle seoul shanghai shenzhen sofia stockholm stuttgart sydney
    taipei tampa tehran tokyo toronto tucson tulsa vancouver vienna warsaw wellington winnipeg zurich
"""
_FIRST_OF_TWO = """
    new-york new-jersey new-mexico new-hampshire new-zealand new-delhi new-orleans north-carolina south-carolina
    north-dakota south-dakota west-virginia rhode-island los-angeles las-vegas san-francisco san-diego san-antonio
    san-jose hong-kong south-korea north-korea south-africa saudi-arabia sri-lanka costa-rica el-salvador puerto-rico
    kuala-lumpur buenos-aires mexico-city tel-aviv sao-paulo st-louis kansas-city cape-town ho-chi
"""
PLACES = frozenset(_SINGLE.split())
TWO_WORD_PLACES = frozenset(tuple(name.split("-")) for name in _FIRST_OF_TWO.split())
