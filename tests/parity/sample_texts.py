"""Texts and alphabets from which the ROUGE pairs are drawn.

`SENTENCES` holds what an agent might really answer, by language; `ALPHABETS`
holds the characters of each script that the tokenizer treats in its own way.
Both are ours, written for this purpose.
"""

from __future__ import annotations

SENTENCES: dict[str, list[str]] = {
    "english": [
        "Your order #A-1042 has shipped and should arrive on Tuesday, June 3rd.",
        "I couldn't find any flights from San Francisco to Tokyo under $500.",
        "The weather in London is 12°C with light rain; bring an umbrella!",
        "You rolled a 17-sided die twice: the first roll was 13, the second 4.",
        "I have cancelled your subscription. You won't be charged again.",
        "Here are three options:\n1. Refund\n2. Exchange\n3. Store credit",
        "The meeting has been rescheduled to 3:30 PM in conference room B.",
        "Running the tests failed: 3 errors, 12 warnings were generated.",
        "The skies were dying into evening while the news kept proceeding.",
        "Sorry, I don't have access to your account's billing information.",
        "**Summary**: revenue grew 12.5% year-over-year, exceeding expectations.",
        "Use `get_weather(city=\"Paris\")` to retrieve the current conditions.",
        "The naïve café owner's résumé listed coöperation and façade cleaning.",
        "NEWS: Innings outings cannings howe proceed exceed succeed lying tying.",
        "e.g. snake_case_name, kebab-case-name, CamelCaseName, and path/to/file.txt",
        "Happily, the agency's activities generalised relational conditional rationality.",
    ],
    "chinese": [
        "您的订单已经发货，预计星期二送达。",
        "北京今天晴，最高气温25度，适合外出。",
        "我没有找到符合条件的航班，请换一个日期再试。",
        "會議改到下午三點半，在第二會議室舉行。",
        "人工智能（AI）助手可以帮助您完成这些任务。",
        "総計 ¥1,200，包含税费和運費。",
        "𠮷野家在𡈽曜日营业，㐂字也可以使用。",
    ],
    "japanese": [
        "ご注文の商品は火曜日に到着する予定です。",
        "東京の天気は晴れ、気温は２５度です。",
        "人々は時々、公園で散歩します。",
        "ｶﾞｲﾄﾞﾌﾞｯｸをｺﾋﾟｰしました。",
        "コンピューターを再起動してください。",
        "バスは「第３バス停」で止まります・・・",
        "株式会社㈱と㍿と㌔㍍の略記。",
        "か\u3099き\u3099く\u3099 は がぎぐ と同じです。",
    ],
    "korean": [
        "주문하신 상품은 화요일에 도착할 예정입니다.",
        "서울의 오늘 날씨는 맑고 최고 기온은 25도입니다.",
        "회의가 오후 3시 30분으로 변경되었습니다.",
        "\u1112\u1161\u11ab\u1100\u1173\u11af 자모는 한글로 합쳐집니다.",
        "ㅋㅋㅋ ㅎㅎ 네, 알겠습니다!",
        "ﾡﾢﾣ ￦1,000",
    ],
    "thai": [
        "คำสั่งซื้อของคุณถูกจัดส่งแล้วและจะมาถึงวันอังคาร",
        "สภาพอากาศในกรุงเทพฯ วันนี้ร้อนมาก อุณหภูมิ ๓๕ องศา",
        "ฉันไม่พบเที่ยวบินที่ตรงกับเงื่อนไขของคุณ",
        "ไทยabc กับ abcไทย และ น้ำ1 น้ํา2",
        "รีสตาร์ต Server แล้วลองใหม่ๆอีกครั้ง",
    ],
    "lao": [
        "ຄຳສັ່ງຊື້ຂອງທ່ານໄດ້ຖືກຈັດສົ່ງແລ້ວ",
        "ສະບາຍດີ ອາກາດມື້ນີ້ຮ້ອນຫຼາຍ ໆ ໓໕ ອົງສາ",
    ],
    "khmer": [
        "ការបញ្ជាទិញរបស់អ្នកត្រូវបានដឹកជញ្ជូនហើយ។",
        "អាកាសធាតុថ្ងៃនេះក្តៅ ៣៥ អង្សា ៗ",
    ],
    "myanmar": [
        "သင့်အော်ဒါကို ပို့ဆောင်ပြီးပါပြီ။",
        "ဒီနေ့ ရာသီဥတု ပူတယ် ၃၅ ဒီဂရီ",
    ],
    "greek": [
        "Η ΠΑΡΑΓΓΕΛΙΑ ΣΑΣ ΕΧΕΙ ΑΠΟΣΤΑΛΕΙ ΣΤΟΥΣ ΦΙΛΟΥΣ.",
        "Η παραγγελία σας έχει αποσταλεί στους φίλους.",
        "ΟΔΥΣΣΕΥΣ Σ ΑΣ ΑΣΑ ΑΣ. ΑΣ' ΑΣ'Α Σ\u0301 ΑΣ\u0301 ΑΣ\u00adΑ",
        "Ὁ ἄνθρωπος ᾳ ῼ ᾼ Ω Ω µ μ ΰ",
    ],
    "turkish": [
        "İSTANBUL'DA HAVA İYİ, IĞDIR'DA SICAK.",
        "İstanbul'da hava iyi, Iğdır'da sıcak.",
        "istanbul ISTANBUL i̇stanbul ısparta",
    ],
    "arabic": [
        "تم شحن طلبك ومن المتوقع وصوله يوم الثلاثاء.",
        "الطَّقْسُ اليَوْمَ مُشْمِسٌ ودرجة الحرارة ٢٥ درجة.",
        "ﷺ ﻻ ﻼ لا کتاب كتاب ۲۵",
    ],
    "hebrew": [
        "ההזמנה שלך נשלחה וצפויה להגיע ביום שלישי.",
        "שָׁלוֹם עוֹלָם! צה\"ל ת״א ג׳ירפה שּׁ",
    ],
    "hindi": [
        "आपका ऑर्डर भेज दिया गया है और मंगलवार को पहुँचेगा।",
        "आज दिल्ली में मौसम साफ़ है, तापमान २५ डिग्री।",
        "क़ख़ग़ ज़\u200cिन्दगी क्\u200dष",
    ],
    "vietnamese": [
        "Đơn hàng của bạn đã được gửi và sẽ đến vào thứ Ba.",
        "Tie\u0302\u0301ng Vie\u0323\u0302t Tiếng Việt TIẾNG VIỆT",
    ],
    "cyrillic": [
        "Ваш заказ отправлен и прибудет во вторник.",
        "ВАШ ЗАКАЗ ОТПРАВЛЕН, ЁЖИК и ежик, и\u0306 й.",
        "Ваше замовлення відправлено: об'єкт, об’єкт, ґрунт.",
    ],
    "other": [
        "Straße STRASSE straẞe Fuß FUẞ ǅungla Ǆ ǆ",
        "ﬁnal ﬂow oﬃce ﬅop ½ cup, ¼ tsp, x² + y³ = z₁ ① ② ⑳ Ⅳ ⅷ №5 ™",
        "ＦＵＬＬ－ｗｉｄｔｈ　ＴＥＸＴ１２３！",
        "𝐁𝐨𝐥𝐝 𝑖𝑡𝑎𝑙𝑖𝑐 𝔉𝔯𝔞𝔨𝔱𝔲𝔯 ⓒⓘⓡⓒⓛⓔⓓ 🄰🅰",
        "👋 Hello 🌍! 👨‍👩‍👧 family, 🇩🇪 flag, ❤️ heart, 1️⃣ one, 👍🏽",
        "ქართული ᲥᲐᲠᲗᲣᲚᲘ Ꭰꭰ ᏸ ⰰⰀ 𐐀𐐨",
        "தமிழ் వ్యవస్థ ಕನ್ನಡ മലയാളം සිංහල བོད་ཡིག አማርኛ",
        "à̧b à̧b é é Å Å ḍ̇ ḍ̇",
        "zero\u200bwidth\u200cnon\u200djoiner\u2060word\ufeffbom soft\u00adhyphen",
        "unit\u001fsep\u001erec\u001dgrp\u001cfile\u0085next\u2028line\u2029para",
    ],
    "blank": ["", " ", "\n", "\t \r\n", "…", "!?", "\u3000", "\ufeff", "\u200b", "\u001f"],
}

ALPHABETS: dict[str, str] = {
    "latin": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "digits": "0123456789٣३๓໓３²½①",
    "accents": "éèêëàâäöüßñçåøæœđđłŁÉÖÜẞŽžŠšİıĞğ",
    "greek": "αβγδεζηθικλμνξοπρσςτυφχψωΑΒΓΔΕΣΣΣΩάέήίόύώΐΰᾳ",
    "cyrillic": "абвгдеёжзийклмнопрстуфхцчшщъыьэюяАБВГДЕЁЖЗИЙіїєґ",
    "arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهويةىءآأ\u064b\u064e\u0651\u0652",
    "hebrew": "אבגדהוזחטיכלמנסעפצקרשתךםןףץ\u05b8\u05c1\u05bc",
    "devanagari": "अआइईकखगघचछजझटठडढणतथदधनपफबभमयरलवशषसह\u093e\u093f\u0940\u0941\u094d\u0902\u093c",
    "han": "一二三人大小中国日本年月水火山川學会我你他好的是不了在有々〆〇",
    "kana": "あいうえおかきくけこがぎぐげごっゃゅょアイウエオカキクケコガー・ヽゞゟヿ",
    "halfkana": "ｱｲｳｴｵｶｷｸｹｺｻｼｽﾊﾋﾌﾍﾎﾞﾟｰｯｬ",
    "hangul": "가각간나다라마바사아자차카타파하힣한글ㄱㄴㅏㅑ\u1100\u1161\u11a8",
    "thai": "กขคงจชซฐณดตถทนบปผพฟมยรลวสหอเแโใไๆฯะ\u0e31\u0e33\u0e34\u0e35\u0e37\u0e38\u0e48\u0e49\u0e4c๑๒฿",
    "lao": "ກຂຄງຈຊຍດຕຖທນບປຜຝພຟມຢຣລວສຫອຮເແໂໃໄໆຯ\u0eb1\u0eb3\u0eb4\u0eb5\u0ec8\u0ec9ໜໝ",
    "khmer": "កខគឃងចឆជឈញដឋឌណតថទធនបផពភមយរលវសហអ\u17b6\u17b7\u17d2\u17c6។ៗ៣",
    "myanmar": "ကခဂဃငစဆဇညတထဒဓနပဖဗဘမယရလဝသဟအ\u102b\u102d\u1031\u103b\u103a\u1037၊။၃",
    "astral": "\U00020000\U00020bb7\U0002a6b2\u3400\u3402\u4dbf\U0002f800\uf900𐐀𐐨𝐀𝟎🄰𐍈",
    "compatibility": "ﬁﬂﬃＡｂ１Ⅳⅷ㈱㌔㍿™℃ªº²₃¼Ωµﷺﻻ㋿",
    "marks": "\u0300\u0301\u0302\u0308\u0323\u0327\u0345\u20dd\ufe0f\u3099\u309a\u0591\u0e38",
    "emoji": "😀🌍👋❤👍🏽🇩🇪☂★",
    "spaces": " \t\n\r\u000b\u000c\u001c\u001d\u001e\u001f\u0085\u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000",
    "ignorable": "\u00ad\u200b\u200c\u200d\u2060\ufeff\u180e\u034f\u0000\u0007\u007f",
    "punctuation": "_-.,;:!?'\"’“”()[]{}<>/\\|@#$%^&*+=~`。、「」，！？·…—«»׳״،؟।",
}

ENGLISH_WORDS: list[str] = (
    "a an the and or but of to in on is are was be been I you it he she they we "
    "order orders ordered ordering shipping shipped ship ships flight flights fly "
    "flies flying flew die dies dying lie lying tie tying sky skies news inning "
    "innings outing outings proceed proceeding exceed succeeded happy happily "
    "happiness agency agencies relate relation relational relatively condition "
    "conditional conditioning generate generated generating generator generation "
    "city cities weather report reports reported temperature degree degrees tool "
    "tools call calls called calling agent agents answer answers answered user "
    "users refund refunds account accounts balance failing failed failure fails "
    "hop hopping hopped hoping hope tan tanned fall falling hiss hissing fizz "
    "control controlling roll rolled rolling rate rated rating cease ceased die "
    "probate probability feed agreed agree disabled matting mating meeting meet "
    "caress caresses ponies pony ties cats cat 3 17 2024 3rd 12th A1 B2 x64 utf8 "
    "don't can't it's o'clock e-mail co-operate state-of-the-art snake_case"
).split()
