"""Sentences to be spoken by the synthesisers: built from word lists, so that all sounds meet."""

import random
from collections.abc import Iterator


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(text.split("|"))


_NAMES = _words(
    "Bob Pam Martha Victor Fiona Joseph Chloe George Ruth Walter Yvonne Hugh Theo Ivy Oscar Maya "
    "Philip Beth Amber Wendy Shirley Vincent Molly Peter Ursula Owen Paula Benjamin Ravi Zoe Miguel "
    "Aisha"
)
_PEOPLE = _phrases(
    "the baker|my mother|a young pilot|the whole family|our neighbour|the old fisherman|everybody|"
    "nobody here|the new teacher|his best friend|a famous painter|the village doctor|two women|"
    "five boys|the mayor|a few visitors|the blue team|her father|the bus driver|a very polite waiter|"
    "the shop owner|my brother"
)
_VERBS = _phrases(
    "bought|borrowed|found|moved|painted|opened|carried|watched|wanted|washed|noticed|measured|shook|"
    "threw away|picked up|put back|lost|fixed|remembered|forgot|chose|showed me|gave us|talked about|"
    "wrote about|photographed|dreamed of|cooked|shipped|sold|repaired|built|brought home|looked for|"
    "laughed at|pulled|pushed"
)
_ADJECTIVES = _words(
    "big small purple yellow wooden heavy broken shiny smooth warm cheap beautiful huge fresh old "
    "quiet strange perfect empty round narrow white black golden rough famous available impossible "
    "sharp comfortable funny thick thin soft blue green proper busy awful lovely"
)
_THINGS = _phrases(
    "map|boat|book|window|apple|table|piano|cup of coffee|bowl of soup|pair of shoes|bicycle|vase|"
    "bridge|garden|letter|photograph|blanket|towel|mirror|basket|camera|flower|wheel|puppet|lamp|"
    "umbrella|boiled egg|pile of paper|jug of milk|television|carpet|watch|village|house|museum|"
    "pumpkin|violin|bathtub|sofa|magazine|newspaper|chair|potato|mushroom|wallet|feather|thermometer|"
    "treasure|joke|voice|toy|choir|judge's robe"
)
_PLACES = _phrases(
    "by the river|in front of the museum|above the kitchen|near the beach|behind our house|"
    "at the airport|under the bridge|on the roof|between two tall buildings|"
    "in the middle of the village|across the road|at half past five|before breakfast|after the storm|"
    "on Wednesday evening|in the early morning|last summer|without any warning|"
    "for the very first time|with both hands|from far away|during the show|all year round"
)
_OPENERS = _phrases(
    "Well,|You know,|Of course,|Maybe|I think|I suppose|They say|As far as I know,|Believe me,|"
    "By the way,|Look,|To be honest,|This morning|Years ago|Somehow|Obviously,|Oh,|Hmm,"
)
_QUESTIONS = _phrases(
    "What would you do if {p} {v} the {a} {t}?|Why should {p} care about a {t}?|"
    "Who {v} my {a} {t} {l}?|Have you ever seen such a {a} {t}?|How many of them were {l}?|"
    "Could we meet {n} {l}?|Do you believe that {n} {v} the {t}?|Where did you put the {a} {t}?"
)
_STATEMENTS = _phrases(
    "{o} {p} {v} the {a} {t} {l}.|{n} and {m} {v} a {t} {l}.|"
    "{p} {v} {n}'s {a} {t}, and {m} was very happy.|"
    "{o} {n} {v} it because the {t} looked {a} and {b}.|"
    "There is a {a} {t} {l}, but {p} never {v} it.|"
    "If {n} had {v} the {t} {l}, we would have stayed home.|{o} the {t} is {a}, the {u} is {b}.|"
    "My {a} {t} fell down {l}, so {p} {v} another {u}.|{n} said: please bring the {a} {t} to me.|"
    "{p} {v} {c} {t}s and {d} {u}s {l}."
)
_NUMBERS = _phrases(
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty two|forty|fifty five|"
    "ninety|a hundred and one|two thousand"
)
_DRILLS = (
    "Mom bumped the pump, but Pop mopped it up.",
    "Maybe Bobby may buy a big brown bamboo map.",
    "Five brave wolves followed every fluffy calf over the farm.",
    "Vivian's wife visited the very first valley full of leaves.",
    "We would all love to know who knew that you threw two new shoes.",
    "Oh no, the whole boat is going to go over the low road.",
    "She showed George a huge orange dish with fresh cherries.",
    "Why wait? We always walked away when the weather was warm.",
    "Eat three green beans, please, then leave the sweet peas.",
    "Father's car parked far apart from the calm harbour.",
    "Thirty three thin thieves thought about this other thing together.",
    "A cat sat back and had an apple after that.",
    "Hello, good morning, how are you today? I am fine, thank you.",
)
_OTHER_LANGUAGES = {
    "es": (
        "Buenos días, ¿puede ayudarme a buscar la biblioteca, por favor?",
        "Mi hermano vive en un pueblo muy bonito cerca del mar.",
        "Mañana por la mañana vamos a comprar pan, fruta y un poco de vino.",
        "Ella nunca olvida llevar el paraguas cuando llueve en primavera.",
    ),
    "de": (
        "Guten Abend, haben Sie vielleicht noch ein Zimmer mit Bad frei?",
        "Meine Großmutter backt am Samstag immer einen großen Apfelkuchen.",
        "Wir möchten im Sommer über die Alpen bis nach Verona fahren.",
        "Fünf wilde Füchse liefen früh am Morgen durch den Wald.",
    ),
    "fr-fr": (
        "Bonjour madame, pouvez-vous me montrer le chemin du marché ?",
        "Mon petit frère aime beaucoup jouer au bord de la rivière.",
        "Nous avons mangé une bonne soupe avec du pain et du fromage.",
        "Il fait beau, on peut ouvrir toutes les fenêtres de la maison.",
    ),
    "it": (
        "Buonasera, vorrei prenotare un tavolo per cinque persone.",
        "La mia famiglia abita vicino a una vecchia piazza molto bella.",
        "Domani compriamo pomodori, basilico e un buon bicchiere di vino.",
    ),
}
LANGUAGES = tuple(_OTHER_LANGUAGES)
# Languages whose sounds lie further from those of English; Japanese in kana, which is what espeak-ng reads.
_FURTHER_LANGUAGES = {
    "ja": (
        "おはようございます、きょうは とても いい てんきですね。",
        "きのう ともだちと うみへ いきました。",
        "あかい くるまを かって、ふゆの やまへ いきたい。",
        "わたしの ははは まいにち にわで はなを みています。",
        "すみません、えきまで どうやって いけば いいですか。",
        "ぼくの おとうとは ぷりんと ばななが だいすきです。",
        "まどを あけて、すこし やすみましょう。",
        "あの ふるい はしの むこうに ちいさな むらが あります。",
    ),
    "pt-br": (
        "Amanhã vamos comprar pão, queijo e um pouco de mel no mercado.",
        "Minha família mora perto de uma praia muito bonita.",
        "Você pode abrir a porta, por favor?",
    ),
    "pl": (
        "Dzień dobry, czy mogę kupić bilet na pociąg?",
        "Moja babcia piecze w sobotę dobre ciasto z jabłkami.",
        "Wieczorem pójdziemy nad wodę popatrzeć na gwiazdy.",
    ),
    "sw": (
        "Habari ya asubuhi, rafiki yangu, umeamka vipi?",
        "Baba yangu anafanya kazi shambani kila siku.",
        "Watoto wawili wanapenda kucheza mpira ufukweni.",
    ),
    "hi": (
        "मेरा भाई हर सुबह बाज़ार जाता है।",
        "क्या आप मुझे थोड़ा पानी दे सकते हैं?",
        "हम सब कल शाम को बाग में मिलेंगे।",
    ),
}
FURTHER_LANGUAGES = tuple(_FURTHER_LANGUAGES)
_PSEUDO_CONSONANTS = _words("p b m f v t d n l s z ʃ ʧ ʤ ɹ w j k ɡ h θ ð")
_PSEUDO_VOWELS = _words("i ɪ e ɛ æ ɑ ɔ o u ʊ ə aɪ aʊ oʊ eɪ a")


def english(rng: random.Random) -> str:
    """One English statement, question or pronunciation drill."""
    kind = rng.random()
    if kind < 0.12:
        return rng.choice(_DRILLS)
    template = rng.choice(_QUESTIONS if kind < 0.35 else _STATEMENTS)
    text = template.format(
        n=rng.choice(_NAMES),
        m=rng.choice(_NAMES),
        p=rng.choice(_PEOPLE),
        v=rng.choice(_VERBS),
        a=rng.choice(_ADJECTIVES),
        b=rng.choice(_ADJECTIVES),
        t=rng.choice(_THINGS),
        u=rng.choice(_THINGS),
        l=rng.choice(_PLACES),
        o=rng.choice(_OPENERS),
        c=rng.choice(_NUMBERS),
        d=rng.choice(_NUMBERS),
    )
    return text[0].upper() + text[1:]


def in_language(language: str, rng: random.Random) -> str:
    """One sentence in a language of LANGUAGES or FURTHER_LANGUAGES."""
    return rng.choice(_OTHER_LANGUAGES.get(language) or _FURTHER_LANGUAGES[language])


def pseudo_words(rng: random.Random) -> str:
    """A line of invented words in IPA, which meets sound sequences that no dictionary holds."""
    return " ".join(_pseudo_word(rng) for _ in range(rng.randint(4, 9))) + "."


def _pseudo_word(rng: random.Random) -> str:
    return "".join(_syllables(rng, rng.randint(1, 3)))


def _syllables(rng: random.Random, count: int) -> Iterator[str]:
    stressed = rng.randrange(count)
    for index in range(count):
        stress = "ˈ" if index == stressed else ""
        coda = rng.choice(_PSEUDO_CONSONANTS) if rng.random() < 0.25 else ""
        yield rng.choice(_PSEUDO_CONSONANTS) + stress + rng.choice(_PSEUDO_VOWELS) + coda
