import type { Form, ReadFields } from '../../engine/caption/field-reader.ts';
import type { ReceivedFile } from '../../engine/media/receive-asset.ts';

/** The fields of a request and its file, received or restored from the database. */
export interface ReceivedForm extends Form {
  readonly asset: ReceivedFile | undefined;
}

/** A request whose fields have been read, but not checked yet. */
export interface ReadRequest extends ReadFields {
  readonly asset: ReceivedFile | undefined;
}
