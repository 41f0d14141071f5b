// Checks the signature of a webhook, as https://www.standardwebhooks.com describes.

const TOLERANCE_SECONDS = 300;

export async function isGenuine(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: Buffer,
  secret: string,
): Promise<boolean> {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures } = headers;
  if (typeof id !== 'string' || typeof time !== 'string' || typeof signatures !== 'string') return false;
  if (!(Math.abs(Date.now() / 1_000 - Number(time)) <= TOLERANCE_SECONDS)) return false;
  const { subtle } = crypto;
  const raw = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const key = await subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  const signed = Buffer.concat([Buffer.from(`${id}.${time}.`), body]);
  for (const signature of signatures.split(' ')) {
    const [version, encoded = ''] = signature.split(',');
    if (version === 'v1' && (await subtle.verify('HMAC', key, Buffer.from(encoded, 'base64'), signed))) return true;
  }
  return false;
}
