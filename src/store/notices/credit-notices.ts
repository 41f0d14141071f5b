// Which users have been told by email that most or all credits of their billing period are used. Part of the store's interface.

/** A user to tell, and what about. */
export interface CreditNotice {
  readonly userId: string;
  readonly email: string;
  readonly accountId: string;
  readonly periodStartsAt: string;
  readonly periodEndsAt: string;
  readonly percent: number;
  readonly used: number;
  /** Credits of the period, with those that an operator has added. */
  readonly credits: number;
}

export interface CreditLevel {
  readonly percent: number;
  /** With their credits per period, to which an operator may have added some. */
  readonly plans: readonly { readonly name: string; readonly credits: number }[];
}

export interface CreditNotices {
  /**
   * Owners and billing members of accounts that have reached the level in the current period, and weren't told about this
   * or a higher one since the period has as many credits as now.
   */
  due(level: CreditLevel, count: number): Promise<CreditNotice[]>;
  /**
   * True for one caller only, which then sends the email. A claim that isn't marked as sent can be claimed again after a
   * while, because its server may have crashed.
   */
  claim(notice: CreditNotice): Promise<boolean>;
  markSent(notice: CreditNotice): Promise<void>;
}
