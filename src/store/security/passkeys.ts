// Passkeys and their challenges. Part of the store's interface.

/** Of one user. */
export const MAX_PASSKEYS = 20;

export interface NewPasskey {
  /** Of the credential, in Base64url. */
  readonly id: string;
  readonly userId: string;
  /** As users call the device. */
  readonly name: string;
  /** In Base64url. */
  readonly publicKey: string;
  readonly counter: number;
  readonly transports: readonly string[];
}

export interface Passkey extends NewPasskey {
  readonly createdAt: Date;
  readonly lastUsedAt: Date | undefined;
}

export interface Passkeys {
  /** Oldest first. */
  list(userId: string): Promise<Passkey[]>;
  find(id: string): Promise<Passkey | undefined>;
  /** False when the passkey is known already, also of another user, or the user has `MAX_PASSKEYS` of them. */
  add(passkey: NewPasskey): Promise<boolean>;
  /**
   * Stores the counter of a sign-in. False when it isn't higher than the last one, which means that the passkey was copied.
   * Passkeys that don't count always have 0.
   */
  markUsed(id: string, counter: number): Promise<boolean>;
  /** False when the user has no such passkey. */
  remove(userId: string, id: string): Promise<boolean>;
  addChallenge(hash: string, visitor: string, expiresAt: Date): Promise<void>;
  /** True once, for the visitor who got the challenge. */
  useChallenge(hash: string, visitor: string): Promise<boolean>;
  removeExpired(): Promise<void>;
}
