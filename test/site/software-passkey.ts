// Creates a passkey in software, and the response of a device that registers it.

import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import { must } from '../../src/shared/must.ts';

const PRESENT_VERIFIED_WITH_KEY = 0x45;

/** The `response` field for the form that adds a passkey. */
export function registrationResponse(origin: string, challenge: string): string {
  const id = randomBytes(16);
  const clientData = JSON.stringify({ type: 'webauthn.create', challenge, origin, crossOrigin: false });
  const authData = Buffer.concat([
    createHash('sha256').update(new URL(origin).hostname).digest(),
    Buffer.from([PRESENT_VERIFIED_WITH_KEY]),
    Buffer.alloc(4 + 16),
    Buffer.from([0, id.length]),
    id,
    publicKey(),
  ]);
  const attestation = isoCBOR.encode(
    new Map<string, string | Map<string, string> | Uint8Array>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', new Uint8Array(authData)],
    ]),
  );
  return JSON.stringify({
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key',
    clientExtensionResults: {},
    response: {
      clientDataJSON: Buffer.from(clientData).toString('base64url'),
      attestationObject: Buffer.from(attestation).toString('base64url'),
    },
  });
}

/** An ES256 key as COSE writes it. */
function publicKey(): Uint8Array {
  const { x, y } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
  const coordinate = (value: string | undefined): Uint8Array =>
    new Uint8Array(Buffer.from(must(value, 'a coordinate of the key'), 'base64url'));
  return isoCBOR.encode(
    new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, coordinate(x)],
      [-3, coordinate(y)],
    ]),
  );
}
