/** Files of the service hold uploads and accounts, so only its own user may read them, whatever the umask was before. */
export function keepFilesPrivate(): void {
  process.umask(0o077);
}
