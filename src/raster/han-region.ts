// The same Han code point looks different in China, Taiwan, Japan and Korea. A request names no language, so the region
// is inferred from the text: kana means Japan and hangul Korea. Otherwise, common characters that exist only in
// simplified or only in traditional Chinese decide.

export type HanRegion = 'sc' | 'tc' | 'jp' | 'kr';

const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;
const HANGUL = /\p{Script=Hangul}/u;
const HAN = /\p{Script=Han}/u;
const SIMPLIFIED = new Set(
  '们个来时说国会对学后还这么没为与当发经开关点过现样让从给间机电话东车长门问见书买卖钱欢爱听实头觉应该种进动业气体万岁谁请谢难亲场边无' +
    '网总认识读写红绿蓝马鸟鱼龙飞风云图画园圆团广厂庆乐兴习务师带帮帅归录张强战户报护担择拥挤据断旧显晓暂术权条极构枪梦检桥楼欧残气汉汤沟泪泽洁浅济浓',
);
const TRADITIONAL = new Set(
  '們個來時說國會對學後還這麼沒為與當發經開關點過現樣讓從給間機電話東車長門問見書買賣錢歡愛聽實頭覺應該種進動業氣體萬歲誰請謝難親場邊無' +
    '網總認識讀寫紅綠藍馬鳥魚龍飛風雲圖畫園圓團廣廠慶樂興習務師帶幫帥歸錄張強戰戶報護擔擇擁擠據斷舊顯曉暫術權條極構槍夢檢橋樓歐殘漢湯溝淚澤潔淺濟濃',
);

export function hanRegion(text: string): HanRegion {
  if (KANA.test(text)) return 'jp';
  if (HANGUL.test(text)) return 'kr';
  if (!HAN.test(text)) return 'sc';
  let balance = 0;
  for (const char of text) {
    // A character in both lists is written the same way in both and doesn't count.
    const simplified = SIMPLIFIED.has(char);
    const traditional = TRADITIONAL.has(char);
    if (simplified !== traditional) balance += traditional ? 1 : -1;
  }
  return balance > 0 ? 'tc' : 'sc';
}
