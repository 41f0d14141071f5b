// The captions with golden images: each script family once, plus the cases where layouts usually break.

import type { Overlay } from '../../src/engine/caption/overlay.ts';
import type { Size } from '../../src/engine/layout/geometry.ts';
import { STYLE_CASES } from './style-cases.ts';

export interface GoldenCase {
  /** Also the name of the image file, `<name>.png`. */
  readonly name: string;
  readonly canvas: Size;
  readonly overlays: readonly Overlay[];
  /** A photo in `photos/` of the size of the canvas, instead of a light gradient. */
  readonly photo?: string;
}

const POST = { width: 540, height: 540 };
const STORY = { width: 540, height: 960 };
const LANDSCAPE = { width: 960, height: 540 };

export const GOLDEN_CASES: readonly GoldenCase[] = [
  caption('latin-one-line', 'Sunday at the lake'),
  caption(
    'latin-five-lines',
    'We left at four in the morning, missed the first ferry, ate old pizza on the pier, and still saw the whole bay turn gold before anyone else was awake. Would do it again tomorrow!!!',
  ),
  caption('latin-long-words', '#thelongestsummerholidayofmywholelife is over: https://example.com/albums/2024/lake'),
  {
    name: 'latin-syllables',
    canvas: POST,
    overlays: [
      {
        text: 'Die Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft tagt',
        position: null,
        lang: 'de',
      },
    ],
  },
  caption('latin-accents', 'Ångström, Čeština, Żółć, Đặng Thị Ốc ẵm gà: “¿Qué?”'),
  caption('latin-arrows', 'Start -> here ==> there, and back <- or <=> :-> (ACT-2) 12:30'),
  caption('emoji-line-end', 'First swim of the year, finally 🏊🏽‍♀️\nsee you all out there tomorrow ❤️'),
  caption('emoji-kinds', '😀 👍🏿 👨‍👩‍👧‍👦 🏳️‍🌈 🇯🇵 🏴󠁧󠁢󠁳󠁣󠁴󠁿 #️⃣ 🧑‍🚀 ❤️‍🔥 ☕️'),
  caption('emoji-gray', 'New song 🎵 🎶 🎼 is out ✔️\n➕ ➖ ➗ ✖️ 🟰 〰️ ➰ ➿ ©️ ®️ ™️ 🎉'),
  caption('emoji-without-selector', 'I ❤ this ☀ ✈ ☎ ⚠ ☺ 🌶 🕊 🇦 🏽\nbut ❤︎ ☀︎ → © ✔ 1 # stay text'),
  caption('arabic', 'صباح الخير يا أصدقاء، الطقس جميل اليوم على الشاطئ ونحن في انتظاركم'),
  overlays(
    'arabic-script-middle',
    STORY,
    ['صباح الخير يا أصدقاء', 15],
    ['آج موسم بہت اچھا ہے', 32],
    ['می‌خواهم برگردم', 49],
    ['بِسْمِ اللَّهِ الرَّحْمَٰنِ الرَّحِيمِ', 66],
    ['عيد ميلاد سعيد 🎂\nHappy birthday', 85],
  ),
  caption('hebrew-digits-parentheses', 'הרכבת יוצאת בשעה 18:45 (רציף 3) ומגיעה ב-20:10, נתראה שם!'),
  caption('thai', 'วันนี้อากาศดีมาก ไปเที่ยวทะเลกับเพื่อน ๆ กินอาหารอร่อยที่ร้านริมหาด'),
  caption('khmer', 'ថ្ងៃនេះអាកាសធាតុល្អណាស់ យើងទៅលេងសមុទ្រជាមួយមិត្តភក្តិ'),
  caption('japanese-kinsoku', '「今日はとてもいい天気ですね。」と、コーヒーを飲みながらジョンさんは言った（笑）。'),
  caption('japanese-brackets', '「『日本語』（笑）。」、【「はい…」】・《本》――（「」）'),
  caption('half-width-kana', 'ｶﾞﾝﾊﾞﾚ！ ﾃﾚﾋﾞﾃﾞﾐﾀﾖ (ﾟ∀ﾟ) ☆ﾟ･*:.｡ ﾊﾟﾊﾟﾋﾟﾌﾟﾍﾟﾎﾟ'),
  caption('chinese-simplified', '今天天气真好，我们一起去海边看日出，听说那里的风景美得让人说不出话来。'),
  caption('chinese-punctuation', '他说：“今天……我们——一起去·海边。”（《书》），‘好’！don’t'),
  caption('chinese-traditional', '今天天氣真好，我們一起去海邊看日出，聽說那裡的風景美得讓人說不出話來。'),
  caption('korean', '오늘 날씨가 정말 좋네요! 친구들과 함께 바닷가에서 커피를 마셨어요'),
  caption('korean-words', '새해 복 많이 받으세요! 올해도 건강하고 행복한 일만 가득하길 바랍니다'),
  caption('emoji-with-words', 'Une journée extraordinaire 🎂🎈🎁 Merci à toutes et à tous pour vos messages 💛'),
  caption('url-and-hyphens', 'An on-again/off-again well-known place: https://example.com/albums/2024/lake?ref=story'),
  caption('chinese-words', '新年快乐！祝大家身体健康，万事如意，工作顺利，阖家幸福'),
  caption('japanese-no-kana', '東京駅前広場 営業時間変更 本日定休日'),
  {
    name: 'languages',
    canvas: STORY,
    overlays: [
      { text: '直骨海角令 zh-CN', position: 10, lang: 'zh-CN' },
      { text: '直骨海角令 zh-TW', position: 25, lang: 'zh-TW' },
      { text: '直骨海角令 ja', position: 40, lang: 'ja' },
      { text: '直骨海角令 ko', position: 55, lang: 'ko' },
      { text: '۴۵۶۷', position: 70, lang: 'fa' },
      { text: '۴۵۶۷', position: 85, lang: 'ur' },
      { text: 'ŞşŢţ ro', position: 100, lang: 'ro' },
    ],
  },
  caption('devanagari', 'आज मौसम बहुत अच्छा है, दोस्तों के साथ समुद्र किनारे सूर्यास्त की प्रतीक्षा'),
  caption('tamil', 'இன்று வானிலை மிகவும் நன்றாக இருக்கிறது, நண்பர்களுடன் கடற்கரையில்'),
  caption('burmese', 'ဒီနေ့ရာသီဥတုသာယာတယ် သူငယ်ချင်းတွေနဲ့အတူပင်လယ်ကမ်းခြေကိုသွားကြမယ်'),
  caption('tibetan', 'བཀྲ་ཤིས་བདེ་ལེགས། བསྒྲུབས་པའི་རྫོགས་ཆེན། ཧཱུྃ་བཛྲ་གུ་རུ་པདྨ་སིདྡྷི'),
  caption('mongolian', 'ᠮᠣᠩᠭᠣᠯ ᠬᠡᠯᠡ ᠬᠠᠷ᠎ᠠ ᠰᠠᠶᠢᠬᠠᠨ'),
  caption('rare-scripts', 'ᚱᚢᚾᛖᛋ ᜊᜌ᜔ᜊᜌᜒᜈ᜔ 𐓏𐓘𐓻𐓘𐓻𐓟 𝄞 𝅘𝅥𝅮 𓂀 𓆏 𓋹\n𑐣𑐾𑐥𑐵𑐮 𑄌𑄋𑄴𑄟𑄳𑄦 ᤕᤠᤰᤌᤢᤱ ᰛᰩᰵ ᨅᨔ ᨕᨘᨁᨗ ꠍꠤꠟꠐꠤ ꪼꪕ 𞄀𞄩𞄰 𑣁𑣜𑣊'),
  caption('mixed-bidi', 'הסרט "Blade Runner 2049" הכי טוב 🏆 בעולם\nThe word سلام means peace (and שלום too)'),
  overlays('edges', STORY, ['Touches the top', 0], ['Right in the middle', 50], ['Touches the bottom', 100]),
  overlays(
    'default-positions',
    STORY,
    ['First at 50', null],
    ['Second at 60', null],
    ['Third would be at 70,\nbut with four lines\nit has to move\ndown a little', null],
    ['and the fourth gives way', null],
  ),
  overlays('overlapping', POST, ['Below, drawn first', 46], ['Above, drawn last 🍀', 54]),
  overlays(
    'landscape',
    LANDSCAPE,
    ['A landscape frame takes its size from its height', 25],
    ['so that bars stay slim 🌻', 75],
  ),
  overlays('panorama', { width: 1_600, height: 200 }, ['Eight times as wide as high 🏔️', 30], ['مساء النور', 85]),
  caption('tiny', 'Hi', { width: 16, height: 16 }),
  caption(
    'shrunk',
    'Twenty lines\ndo\nnot\nfit,\nso\nthe\nletters\nshrink\nuntil\nall\nof\nthem\nare\ninside\nthe\nframe\n🎈\none\nmore\ndone',
  ),
  ...STYLE_CASES,
];

function caption(name: string, text: string, canvas: Size = POST): GoldenCase {
  return overlays(name, canvas, [text, null]);
}

function overlays(name: string, canvas: Size, ...bars: readonly (readonly [string, number | null])[]): GoldenCase {
  return { name, canvas, overlays: bars.map(([text, position]) => ({ text, position })) };
}
