import { describe, expect, it } from 'vitest';
import { DEFAULT_PLANS, type Plan, PlansError, parsePlans } from './plans.ts';

const PLAN = { name: 'small', monthlyPriceCents: 500, credits: 1_000, requestsPerMinute: 60, concurrentRenders: 2 };

function faultsOf(json: unknown): readonly string[] {
  try {
    parsePlans(json);
    return [];
  } catch (error) {
    if (error instanceof PlansError) return error.faults;
    throw error;
  }
}

describe('a plans file', () => {
  it('a plans file lists only what differs from the defaults', () => {
    const book = parsePlans({
      $schema: 'https://example.com/plans.json',
      currency: 'EUR',
      plans: [{ ...PLAN, title: 'Small one', limits: { videoSeconds: 120 }, stripePrice: 'price_1' }],
      marketplace: { basic: 'small' },
    });
    expect(book.plans).toEqual([
      {
        ...PLAN,
        title: 'Small one',
        stripePrice: 'price_1',
        limits: { ...DEFAULT_PLANS.get('free').limits, videoSeconds: 120 },
        speech: true,
      },
    ] satisfies Plan[]);
    expect([book.currency, book.marketplace]).toEqual(['EUR', { BASIC: 'small' }]);
    expect(parsePlans({ plans: [PLAN] })).toMatchObject({ currency: 'USD', plans: [{ title: 'Small' }] });
  });

  it('a plans file with several faults is refused with all of them', () => {
    const json = {
      curency: 'EUR',
      currency: 'euro',
      plans: [
        { ...PLAN, name: 'Big Plan', credits: -1, requestPerMinute: 3 },
        { ...PLAN, requestsPerMinute: 0, limits: { imageBytes: 1.5, videoLength: 3 } },
        { ...PLAN, monthlyPriceCents: '5', stripePrice: 'a b' },
        'free',
      ],
      marketplace: { PRO: 'nothing', ULTRA: 7 },
    };
    expect(faultsOf(json)).toEqual([
      'currency must be three uppercase letters; got "euro"',
      'plans[0].name must be lowercase letters, digits and dashes; got "Big Plan"',
      'plans[0].credits must be an integer of at least 0; got -1',
      'plans[0].requestPerMinute is not a known field',
      'plans[1].requestsPerMinute must be an integer of at least 1; got 0',
      'plans[1].limits.imageBytes must be an integer of at least 1; got 1.5',
      'plans[1].limits.videoLength is not a known field',
      'plans[2].stripePrice must be the id of a price; got "a b"',
      'plans[2].monthlyPriceCents must be an integer of at least 0; got "5"',
      'plans[3] must be an object',
      'plans: the name "small" appears more than once',
      'marketplace.ULTRA must be a text; got 7',
      'marketplace.PRO: there is no plan "nothing"',
      'curency is not a known field',
    ]);
  });

  it.each([
    [[], ['the file must be an object']],
    [null, ['the file must be an object']],
    [{}, ['plans must be a list with at least one entry']],
    [{ plans: [] }, ['plans must be a list with at least one entry']],
    [{ plans: [PLAN], marketplace: 'BASIC' }, ['marketplace must be an object']],
    [
      { plans: [{}] },
      [
        'plans[0].name must be lowercase letters, digits and dashes; it is missing',
        'plans[0].monthlyPriceCents must be an integer of at least 0; it is missing',
        'plans[0].credits must be an integer of at least 0; it is missing',
        'plans[0].requestsPerMinute must be an integer of at least 1; it is missing',
        'plans[0].concurrentRenders must be an integer of at least 1; it is missing',
      ],
    ],
    [
      {
        plans: [
          { ...PLAN, stripePrice: 'p' },
          { ...PLAN, name: 'other', stripePrice: 'p' },
        ],
      },
      ['plans: the stripePrice "p" appears more than once'],
    ],
    [
      { plans: [PLAN], marketplace: { pro: 'small', Pro: 'small' } },
      ['marketplace: "PRO" appears more than once; upper and lower case are the same'],
    ],
  ])('a plans file that contains %j is refused', (json, faults) => {
    expect(faultsOf(json)).toEqual(faults);
  });

  it('a plans file with faults is refused with a message that lists them', () => {
    expect(() => parsePlans({ plans: [{ ...PLAN, credits: 'many' }] })).toThrow('plans[0].credits must be');
  });
});

describe('PlanBook', () => {
  it('sorts plans by price, and a plan with more is an upgrade', () => {
    const book = parsePlans({
      plans: [
        { ...PLAN, name: 'c', monthlyPriceCents: 900 },
        { ...PLAN, name: 'b', credits: 2_000 },
        { ...PLAN, name: 'a' },
      ],
    });
    expect(book.names).toEqual(['a', 'b', 'c']);
    expect([book.isUpgrade('a', 'c'), book.isUpgrade('c', 'a'), book.isUpgrade('a', 'a')]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('finds plans by name, and throws for the name in an account that is missing', () => {
    expect(DEFAULT_PLANS.find('gold')).toBeUndefined();
    expect(() => DEFAULT_PLANS.get('gold')).toThrow('"gold", which is not in the plans file');
    expect(DEFAULT_PLANS.names).toEqual(['free', 'starter', 'pro', 'business']);
  });

  it('maps names of a marketplace regardless of case, and unknown ones to the lowest plan', () => {
    const names = ['BASIC', 'pro', 'Ultra', 'MEGA', 'CUSTOM', ''].map(
      (name) => DEFAULT_PLANS.forMarketplace(name).name,
    );
    expect(names).toEqual(['free', 'starter', 'pro', 'business', 'free', 'free']);
  });
});
