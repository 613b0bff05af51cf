"""Words and phrases that ask for the same answer wherever they stand. Near-synonyms that only sometimes do are left out:
`buy` and `rent`, `mean` and `median`, `affect` and `effect`, `delete` and `disable` stay apart."""

# One line a meaning, in base forms; the first word stands for the rest. A hyphen joins the words of a phrase.
_SAME = """
    movie film motion-picture
    picture photo image pic photograph
    car automobile
    buy purchase
    begin start commence get-started
    child kid
    physician doctor
    lawyer attorney
    airplane plane aeroplane
    cell-phone mobile-phone cellphone handphone
    refrigerator fridge
    tv television telly
    tv-series tv-show television-series television-show
    bicycle bike
    motorcycle motorbike
    fast quick rapid quickly rapidly
    large big
    largest biggest
    highest tallest
    smallest littlest
    latest newest most-recent most-up-to-date
    fastest quickest
    richest wealthiest
    rich wealthy
    intelligent smart clever
    stupid dumb
    difficult hard tough
    easy simple
    easily simply
    sick ill
    afraid scared frightened
    happen occur take-place
    price cost pricing
    cheap inexpensive
    expensive costly
    beginner newbie novice
    help assist
    fix repair
    cause reason lead-to
    meaning mean definition define
    abbreviation acronym
    advantage benefit
    disadvantage drawback
    use usage utilize
    type kind sort
    country nation
    company firm
    avenue ave
    saint st street
    mount mt
    fort ft
    department dept
    government govt gov
    university univ uni
    app application
    information info
    math mathematics maths
    exam examination
    ad advertisement advert
    laboratory lab
    gym gymnasium
    website web-site site webpage
    internet web
    email e-mail
    gasoline petrol
    apartment flat
    elevator lift
    movie-theater cinema movie-theatre
    zip-code postal-code zipcode postcode
    birthday date-of-birth dob birthdate birth-date
    toilet bathroom restroom washroom
    trash garbage rubbish
    sofa couch
    trouser pants
    flu influenza
    covid coronavirus covid-#19 corona-virus
    heart-attack myocardial-infarction
    high-blood-pressure hypertension
    javascript js
    typescript ts
    kubernetes k8s
    postgres postgresql
    mongodb mongo
    database db
    operating-system os
    ai artificial-intelligence
    machine-learning ml
    virtual-machine vm
    command-line cli
    regex regular-expression regexp
    environment-variable env-var env-variable
    repository repo
    config configuration
    documentation docs
    authentication auth
    architecture-decision-record adr
    kg kilogram kilo
    gram g
    mg milligram
    mcg microgram
    km kilometer
    cm centimeter
    mm millimeter
    mile mi
    pound lb
    ounce oz
    ml milliliter
    gallon gal
    hour hr
    minute min
    year yr
    fahrenheit °-f
    celsius centigrade °-c
    percent % percentage pct
    usd $ dollar us-dollar usa-dollar
    eur € euro
    gbp £ pound-sterling british-pound
    jpy ¥ yen
    inr ₹ rupee rs
    cny yuan rmb renminbi
    versus vs v-s
    usa united-states united-states-of-america america us-of-a states-of-america
    uk united-kingdom great-britain britain
    uae united-arab-emirates
    eu european-union
    un united-nations uno
    new-york-city nyc
    los-angeles l-a
    washington-dc washington-d-c
    philadelphia philly
    las-vegas vegas
    california ca
    texas tx
    florida fl
    new-york ny
    new-jersey nj
    north-carolina nc
    south-carolina sc
    new-zealand nz
    earth planet-earth
    world-war ww
    youtube yt
    facebook fb
    instagram insta
    whatsapp whats-app
    prime-minister pm
    vice-president vp
    phd ph-d doctorate
    gdp gross-domestic-product
    wifi wi-fi wireless-internet
    science-fiction sci-fi scifi
    romantic-comedy romcom rom-com
    cv curriculum-vitae
    faq frequently-asked-question
    difference differ different distinction dissimilarity
    similarity similar alike
    comparison compare
    tip advice suggestion pointer
    near close-to
    nearby near-me close-by close-to-me
    simultaneously at-the-same-time together
    daily every-day everyday per-day each-day
    weekly every-week per-week
    monthly every-month per-month
    annual annually yearly every-year per-year each-year
    hourly every-hour per-hour
    many lots lot-of lots-of plenty-of
    each-other one-another
    broken not-working
    remove delete erase get-rid-of eliminate
    install installation
    convert conversion
    translate translation
    pronounce pronunciation
    migrate migration
    calibrate calibration
    explain explanation
    treat treatment
    adopt adoption
    relationship relation
    weight-loss lose-weight losing-weight
    weight-gain gain-weight gaining-weight put-on-weight
    release come-out
    die pass-away
    marry get-married
    make create earn
    quit give-up stop
    activate turn-on switch-on
    disable turn-off switch-off deactivate
    recommend suggest
    terrible awful
    best greatest finest top
    improve enhance
    industry sector
    woman female
    man male
    affordable cost-effective
    suitable appropriate
    restore recover get-back
    alternative substitute replacement
    opinion thought view
    call consider known-as regarded-as
    increase boost
    reduce decrease
    remain stay
    setup set-up setting-up
    problem issue
    introduction intro
    method technique
    handle deal-with cope-with dealing-with coping-with
    nodejs node.js node-js
    reactjs react.js react-js
    vuejs vue.js vue-js
    nextjs next.js next-js
    adapt adjust
    obtain acquire
    famous well-known
    important essential
    importance significance
    need require necessary
    allow permit enable
    build construct
    establish found
    everyone everybody
    someone somebody anyone anybody
    free free-of-cost free-of-charge for-free
    besides apart-from other-than
    approximately roughly
    disease illness
    medicine medication
    own belong-to
    spin rotate
    separate split
    delicious tasty yummy
    legit legitimate
    evidence proof
    overrated over-hyped overhyped
    side-effect adverse-effect
    mixture mix
    mother mom mum
    father dad
    grandmother grandma
    grandfather grandpa
    pc personal-computer
    housewife homemaker
    crazy weird strange odd bizarre
    craziest weirdest strangest
    scary creepy frightening
    scariest creepiest
    funny hilarious
    beautiful gorgeous
    damage harm
    probability likelihood odds
    goal aim objective
    feature characteristic
    amount quantity
    speed velocity
    salary pay-scale payscale
    luggage baggage
    subway metro underground
    universe cosmos
    alien extraterrestrial
    vegetable veggie
    soda soft-drink
    alcohol liquor booze
    pill tablet
    vaccine vaccination
    baby infant newborn
    teenager teen adolescent
    boyfriend bf
    girlfriend gf
    coworker colleague co-worker
    customer client
    interview job-interview
    career profession occupation
    student pupil
    homework assignment
    singer vocalist
    director filmmaker film-maker
    video-game videogame
    olympics olympic-games
    world-cup fifa-world-cup
    ceo chief-executive chief-executive-officer
    startup start-up
    entrepreneur businessman businessperson
    stock-market share-market
    cryptocurrency crypto
    bitcoin btc
    ethereum eth
    clothes clothing apparel
    glasses spectacles eyeglasses
    phone telephone
    hard-drive hard-disk hard-disk-drive
    ssd solid-state-drive
    cpu processor
    gpu graphics-card video-card
    usb-drive flash-drive thumb-drive pen-drive pendrive
    coding programming
    developer programmer coder
    link hyperlink url
    browser web-browser
    chrome google-chrome
    neural-network neural-net
    chatbot chat-bot
    self-driving-car autonomous-car driverless-car autonomous-vehicle
    electric-car ev electric-vehicle
    gas-station petrol-station petrol-pump
    parking-lot car-park
    driver-license driving-license drivers-license
    license-plate number-plate
    nuclear atomic
    happiness joy
    sad unhappy
    anger rage
    jealous envious
    jealousy envy
    cure heal
    answer reply respond response
    speak talk
    communicate converse
    prove demonstrate
    hide conceal
    reveal disclose
    discover find-out
    understand comprehend
    hate dislike despise
    choose select pick
    decide make-a-decision
    attempt try-to
    achieve accomplish attain
    deliver ship
    throw-away discard
    change alter modify
    wake-up awake
    eat consume
    leave depart
    join become-a-member-of
    survive stay-alive
    disappear vanish
    break-up split-up
    get-back-together reconcile
    flirt hit-on
    cheat be-unfaithful
    forgive pardon
    remember recall
    memorize learn-by-heart
    concentrate focus
    procrastinate put-things-off
    relax chill-out unwind
    cry weep
    convince persuade
    arrest apprehend
    punish penalize
    ban prohibit forbid
    illegal unlawful against-the-law
    useful helpful
    useless pointless
    dangerous hazardous
    tired exhausted fatigued
    upcoming forthcoming
    enough sufficient
    abroad overseas
    often frequently
    rarely seldom
    recently lately
    immediately right-away instantly
    suddenly all-of-a-sudden
    maybe perhaps
    impact effect influence
    believe think
    like enjoy
    love adore
    murder kill
    beat defeat
    return come-back go-back
    participate take-part
    argue quarrel
    previous prior
    complicated complex
    wonderful fantastic amazing
    acne pimple
    nicest kindest
    huge enormous gigantic
    guarantee ensure
    gift present
    accident crash
    ability capability
    bangalore bengaluru
    mumbai bombay
    kolkata calcutta
    chennai madras
    beijing peking
    myanmar burma
    kyiv kiev
    holland netherlands
"""

# People and things of a country, and the country. English is a language first, so it is left out.
_DEMONYMS = """
    american:usa indian:india chinese:china japanese:japan korean:korea german:germany french:france italian:italy
    spanish:spain russian:russia mexican:mexico canadian:canada australian:australia brazilian:brazil british:uk
    pakistani:pakistan israeli:israel turkish:turkey greek:greece egyptian:egypt iranian:iran iraqi:iraq irish:ireland
    scottish:scotland welsh:wales swedish:sweden norwegian:norway danish:denmark finnish:finland dutch:netherlands
    polish:poland ukrainian:ukraine swiss:switzerland austrian:austria belgian:belgium portuguese:portugal
    filipino:philippines vietnamese:vietnam thai:thailand indonesian:indonesia malaysian:malaysia nigerian:nigeria
    cuban:cuba argentine:argentina colombian:colombia chilean:chile peruvian:peru saudi:saudi-arabia
"""


def _load() -> tuple[dict[str, str], dict[tuple[str, ...], str]]:
    single: dict[str, str] = {}
    phrases: dict[tuple[str, ...], str] = {}
    for line in _SAME.strip().splitlines():
        head, *rest = line.split()
        for word in (head, *rest):
            parts = tuple(word.split("-"))
            if len(parts) > 1:
                phrases[parts] = head
            elif word != head:
                single.setdefault(word, head)
    return single, phrases


SAME_WORD, SAME_PHRASE = _load()
COUNTRIES_BY_OTHER_NAMES = frozenset(("usa", "uk", "uae", "eu", "un"))
LONGEST_PHRASE = max(len(phrase) for phrase in SAME_PHRASE)
COUNTRY_OF = dict(pair.split(":") for pair in _DEMONYMS.split())
