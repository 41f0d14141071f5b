/**
 * Who made a change, as the audit log shows it: `cli:<user>`, `account:<id>`, `user:<id>`, `operator:<id>`,
 * `marketplace:<name>`, `stripe` or `system`.
 */
export type Actor = string;
