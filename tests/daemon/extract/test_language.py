"""The language of a page: stated, or told by its text; none rather than a wrong one (U19, U20, U65)."""

# ruff: noqa: RUF001
import pytest

from jird_daemon.extract.document import ParsedDocument, ParseJob
from jird_daemon.extract.page import parse_page
from jird_daemon.store.text_pile import decode_pile

_PROSE = {
    "af": "Die trein is nie vandag hier nie, want dit het gisteraand baie gereën en die brug is toe. Ons sal "
    "môre weer probeer om met die motor na die dorp te ry en brood vir die hele week te koop.",
    "bg": "Влакът днес не дойде, защото цяла нощ валя силен дъжд и мостът е затворен. Утре отново ще опитаме "
    "да стигнем до града с колата и да купим хляб за цялата седмица, ако времето позволи.",
    "ca": "El tren no ha arribat avui perquè tota la nit ha plogut molt i el pont és tancat. Demà tornarem a "
    "provar d'anar al poble amb el cotxe i comprarem pa per a tota la setmana, si el temps ho permet.",
    "cs": "Vlak dnes nepřijel, protože celou noc silně pršelo a most je zavřený. Zítra se znovu pokusíme dojet "
    "do města autem a koupit chléb na celý týden, pokud to počasí dovolí.",
    "de": "Der Zug ist heute nicht gekommen, weil es die ganze Nacht stark geregnet hat und die Brücke "
    "gesperrt ist. Morgen werden wir noch einmal mit dem Auto in die Stadt fahren und Brot für eine "
    "Woche kaufen, wenn das Wetter sich hält.",
    "el": "Το τρένο δεν ήρθε σήμερα, γιατί όλη τη νύχτα έβρεχε πολύ και η γέφυρα είναι κλειστή. Αύριο θα "
    "προσπαθήσουμε πάλι να πάμε στην πόλη με το αυτοκίνητο.",
    "en": "The train did not come today, because it has been raining all night and the bridge is closed. "
    "Tomorrow we will try again to drive into the town with the car, and buy bread for the whole week if "
    "the weather lets us.",
    "es": "El tren no ha llegado hoy porque ha llovido mucho toda la noche y el puente está cerrado. Mañana "
    "intentaremos otra vez ir hasta el pueblo, pero sin el coche, y compraremos pan para las dos "
    "semanas, según el tiempo.",
    "fr": "Le train n'est pas venu aujourd'hui, car il a plu toute la nuit et le pont est fermé. Demain nous "
    "allons essayer encore une fois d'aller dans la ville avec la voiture, pour acheter du pain qui "
    "suffit à une semaine.",
    "ja": "今日は一晩中雨がひどく降って橋が閉まっているので、電車が来ませんでした。明日はもう一度車で町へ行って"
    "、一週間分のパンを買うつもりです。",
    "ko": "오늘은 밤새 비가 많이 와서 다리가 닫혔기 때문에 기차가 오지 않았습니다. 내일은 다시 차를 타고 "
    "시내에 가서 일주일치 빵을 살 생각입니다.",
    "nl": "De trein is vandaag niet gekomen, omdat het de hele nacht hard heeft geregend en de brug dicht is. "
    "Morgen gaan wij weer met deze auto naar de stad, waar wij brood voor een week kopen, als er geen "
    "regen bij komt.",
    "pl": "Pociąg dziś nie przyjechał, ponieważ całą noc mocno padało i most jest zamknięty. Jutro znowu "
    "spróbujemy pojechać samochodem do miasta i kupić chleb na cały tydzień, jeśli pogoda pozwoli.",
    "ru": "Поезд сегодня не пришёл, потому что всю ночь шёл сильный дождь и мост закрыт. Если завтра будет "
    "солнце, мы ещё раз поедем на машине в город, чтобы купить хлеб, который только там можно достать.",
    "sv": "Tåget kom inte i dag, eftersom det har regnat hela natten och bron är stängd. I morgon försöker vi "
    "igen att köra in till staden med bilen och köpa bröd för hela veckan, om vädret tillåter det.",
    "uk": "Поїзд сьогодні не прийшов, бо всю ніч ішов сильний дощ і міст зачинено. Завтра ми ще раз спробуємо "
    "поїхати машиною до міста й купити хліба на весь тиждень, якщо дозволить погода.",
    "zh": "因为昨天晚上一直下大雨,桥被关闭了,所以火车今天没有来。明天我们会再开车去城里,买够一个星期吃的面包,如"
    "果天气允许的话。",
}  # fmt: skip


def parse(html: str, content_type: str = "text/html; charset=utf-8") -> ParsedDocument:
    return parse_page(ParseJob("https://example.org/", html.encode(), content_type), 1_796_083_200.0)


@pytest.mark.parametrize("language", _PROSE)
def test_text_shows_the_language_of_a_page_that_states_none(language: str) -> None:
    """U65; close relatives are told apart: Catalan and Spanish, Afrikaans and Dutch, Bulgarian and Russian."""
    assert parse(f"<p>{_PROSE[language]}").language == language


def test_language_of_plain_text_is_told_by_it() -> None:
    assert parse(_PROSE["pl"], "text/plain; charset=utf-8").language == "pl"


@pytest.mark.parametrize("told_by", ["words", "model"])
def test_stated_language_that_the_text_contradicts_does_not_count(told_by: str) -> None:
    """Templates are in English, whatever is written into them."""
    language = "de" if told_by == "words" else "cs"
    page = f"<html lang=en><p>{_PROSE[language]}</p><p>{_PROSE[language]}</p>"
    assert parse(page).language == language


@pytest.mark.parametrize(("stated", "written"), [("lb", "de"), ("gl", "pt"), ("sco", "en"), ("hr", "cs"), ("nn", "sv")])
def test_stated_smaller_language_is_believed(stated: str, written: str) -> None:
    """What tells languages apart knows large ones best, and takes a small one for its large neighbour."""
    text = _PROSE.get(written, _PROSE["es"])
    assert parse(f"<html lang={stated}><p>{text}</p><p>{text}</p>").language == stated


@pytest.mark.parametrize(
    "text",
    ["", "Kontakt", "Home Login Impressum", "pip install jird==1.0", "a[i] = b[i] + c[i]; i += 1;", "12 34 56 78"],
)
def test_short_text_has_no_language_but_the_stated_one(text: str) -> None:
    assert parse(f"<p>{text}").language == ""
    assert parse(f"<html lang=fr><p>{text}").language == "fr"


@pytest.mark.parametrize("pair", [("en", "de"), ("en", "ja"), ("ru", "en"), ("pl", "sv"), ("fr", "cs")])
def test_page_in_two_languages_has_none_but_the_stated_one(pair: tuple[str, str]) -> None:
    paragraphs = "".join(f"<p>{_PROSE[each]}</p>" * 3 for each in pair)
    assert parse(paragraphs).language == ""
    assert parse(f"<html lang={pair[1]}>{paragraphs}").language == pair[1]


def test_language_is_that_of_the_main_text() -> None:
    frame = "".join(f"<li><a href=/{n}>The pages that you were looking for and more</a>" for n in range(40))
    document = parse(f"<nav><ul>{frame}</ul></nav><main><h1>Zug</h1><p>{_PROSE['de']}</main>")
    assert document.language == "de"


def test_pile_keeps_the_stated_language_so_that_a_better_guess_changes_no_digest() -> None:
    """U19, U20, U21: the text's metadata are what the page states; a guess may be made again."""
    unstated, wrong = parse(f"<p>{_PROSE['de']}"), parse(f"<html lang=en><p>{_PROSE['de']}")
    assert decode_pile(unstated.pile_bytes).language == ""
    assert (wrong.language, decode_pile(wrong.pile_bytes).language) == ("de", "en")
