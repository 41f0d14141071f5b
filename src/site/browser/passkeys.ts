// Passkeys: gets a challenge from the server, asks the device, and sends its response with the form of the page.

import { find } from './elements.ts';

const isSupported =
  'PublicKeyCredential' in window && 'parseRequestOptionsFromJSON' in PublicKeyCredential && window.isSecureContext;

for (const area of document.querySelectorAll<HTMLElement>('[data-passkey]')) {
  const isCreation = area.dataset['passkey'] === 'create';
  const form = find(area, 'form', HTMLFormElement);
  const response = find(form, 'input[name=response]', HTMLInputElement);
  const fault = find(form, '.problem', HTMLElement);
  const say = (text: string): void => {
    fault.textContent = text;
    fault.hidden = text === '';
  };
  if (isSupported) area.hidden = false;
  else if (isCreation) say('This browser has no passkeys, or the page isn’t secure (HTTPS).');
  form.addEventListener('submit', (event) => {
    if (response.value !== '') return;
    event.preventDefault();
    say('');
    ask(area.dataset['options'] ?? '', form, isCreation).then(
      (credential) => {
        response.value = JSON.stringify(credential);
        // The password was already checked together with the challenge.
        for (const password of form.querySelectorAll<HTMLInputElement>('[type=password]')) password.disabled = true;
        form.submit();
      },
      (error: unknown) => say(messageOf(error)),
    );
  });
}

async function ask(path: string, form: HTMLFormElement, isCreation: boolean): Promise<unknown> {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') fields.set(name, value);
  const reply = await fetch(path, { method: 'POST', body: fields, headers: { accept: 'application/json' } });
  const body: unknown = await reply.json();
  if (!reply.ok) throw new Error((body as { detail?: string }).detail ?? 'Something went wrong. Try again.');
  const credential = isCreation
    ? await navigator.credentials.create({
        publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(body as PublicKeyCredentialCreationOptionsJSON),
      })
    : await navigator.credentials.get({
        publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(body as PublicKeyCredentialRequestOptionsJSON),
      });
  if (!(credential instanceof PublicKeyCredential)) throw new Error('No passkey was chosen.');
  return credential.toJSON();
}

function messageOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'NotAllowedError') return 'No passkey was chosen.';
  if (error instanceof DOMException && error.name === 'InvalidStateError') return 'This device has a passkey already.';
  if (error instanceof DOMException && error.name === 'SecurityError')
    return 'Passkeys need a host name, not an IP address.';
  return error instanceof Error ? error.message : 'Something went wrong. Try again.';
}
