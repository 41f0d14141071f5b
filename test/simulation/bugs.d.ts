interface Bug {
  readonly what: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export const BUGS: Readonly<Record<string, Bug>>;
