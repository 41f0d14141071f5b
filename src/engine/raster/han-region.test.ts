import { describe, expect, it } from 'vitest';
import { sentencesIn } from '../../../test/han-sentences.ts';
import { type HanRegion, hanRegion } from './han-region.ts';

function shareIn(region: HanRegion, texts: readonly string[], lang?: string): number {
  return texts.filter((text) => hanRegion(text, lang) === region).length / texts.length;
}

function words(text: string): string[] {
  return text.trim().split(/\s+/u);
}

describe('the region of 100 real sentences', () => {
  it.each([
    ['Japanese', 'ja', 'jp'],
    ['Korean', 'ko', 'kr'],
    ['Simplified Chinese', 'zh-CN', 'sc'],
    ['Traditional Chinese', 'zh-TW', 'tc'],
  ] as const)('the region of real sentences is right for at least 95 of 100 in %s', (_name, language, region) => {
    const sentences = sentencesIn(language);
    expect(sentences).toHaveLength(100);
    expect(shareIn(region, sentences)).toBeGreaterThanOrEqual(0.95);
  });
});

describe('the region of captions of a few characters', () => {
  const JAPANESE = words(`
    東京駅前 新宿区役所 本日休業 営業中 立入禁止 渋谷交差点 京都旅行 富士山頂上 温泉旅館 山田太郎 佐藤花子 北海道 大阪城公園
    春夏秋冬 一期一会 七転八起 成人式 卒業式 入学式 誕生日 新年会 忘年会 居酒屋 回転寿司 味噌汁 焼肉定食 駐車禁止 非常口
    自動販売機 御朱印 夏祭 花火大会 甲子園 横浜中華街 沖縄旅行 大晦日 初詣 謹賀新年 祝開店 新発売 数量限定 期間限定 送料無料
    完全予約制 家族写真 結婚記念日 桜満開 紅葉狩 東京都渋谷区 日本語勉強中 令和六年 全国大会優勝 営業時間変更 絶対合格
  `);
  const SIMPLIFIED = words(`
    生日快乐 新年快乐 周末愉快 天气真好 好久不见 谢谢大家 圣诞快乐 中秋节快乐 毕业快乐 新婚快乐 我爱你 开心 吃饭了 上海夜景
    火锅 牛肉面 下雨天 晒太阳 看电影 运动会 万事如意 恭喜发财 我们结婚了 妈妈生日 母亲节快乐 好朋友 咖啡时光 下午茶 猫咪日常
    北京 长城 西湖 外滩 重庆 成都 小笼包 烤鸭 麻辣烫 今天好累 加班到深夜 想回家 努力工作 学习使我快乐 早上好 晚上好
  `);
  const TRADITIONAL = words(`
    生日快樂 新年快樂 台北夜市 臺灣小吃 珍珠奶茶 週末愉快 天氣真好 好久不見 謝謝大家 聖誕快樂 中秋節快樂 畢業快樂 新婚快樂
    我愛你 開心 吃飯囉 香港夜景 茶餐廳 飲茶 放假啦 出發 旅行日記 士林夜市 淡水老街 阿里山 花蓮 墾丁 火鍋 牛肉麵 滷肉飯
    鹽酥雞 臭豆腐 曬太陽 看電影 運動會 平安喜樂 萬事如意 恭喜發財 端午節安康 我們結婚了 媽媽生日 母親節快樂 好朋友 同學會
    咖啡時光 下午茶 貓咪日常
  `);

  it.each([
    ['Japanese without kana', JAPANESE, 'jp', 'ja'],
    ['Simplified Chinese', SIMPLIFIED, 'sc', 'zh-CN'],
    ['Traditional Chinese', TRADITIONAL, 'tc', 'zh-TW'],
  ] as const)(
    'the region of short captions is right for at least 4 of 5 in %s, and for all of them with a language',
    (_name, texts, region, lang) => {
      expect(texts.length).toBeGreaterThan(40);
      expect(shareIn(region, texts)).toBeGreaterThanOrEqual(0.8);
      expect(shareIn(region, texts, lang)).toBe(1);
    },
  );
});

describe('hanRegion', () => {
  it.each([
    ['の', '我的小确幸の日常', 'sc'],
    ['ツ', '今天真的好开心ツ', 'sc'],
    ['の', '鮮の味道超級好吃，我們每天都來', 'tc'],
    ['a Korean name', '我喜欢 방탄소년단 的音乐', 'sc'],
  ] as const)('hanRegion is not misled by %s in a Chinese sentence: %s', (_foreign, text, region) => {
    expect(hanRegion(text)).toBe(region);
  });

  it.each([
    ['東京の夜景', 'jp'],
    ['祝 결혼', 'kr'],
    ['大韓民國 만세', 'kr'],
    ['ㄅㄆㄇ', 'tc'],
    ['hello', 'sc'],
  ] as const)('uses the letters of other scripts as evidence: %s', (text, region) => {
    expect(hanRegion(text)).toBe(region);
  });

  it.each([
    ['ja', 'jp'],
    ['ja-JP', 'jp'],
    ['ko', 'kr'],
    ['zh', 'sc'],
    ['zh-SG', 'sc'],
    ['zh-Hans-HK', 'sc'],
    ['zh-TW', 'tc'],
    ['ZH-hk', 'tc'],
    ['zh-Hant', 'tc'],
    ['yue', 'tc'],
    ['yue-Hans', 'sc'],
    ['en', 'sc'],
  ] as const)('chooses the region of language %s for ambiguous text', (lang, region) => {
    expect(hanRegion('北京', lang)).toBe(region);
  });

  it('overrules a language that clearly does not match the text', () => {
    expect(hanRegion('今天天气真好，我们一起去海边看日出', 'ja')).toBe('sc');
    expect(hanRegion('今日はとてもいい天気ですね', 'zh-TW')).toBe('jp');
  });
});
