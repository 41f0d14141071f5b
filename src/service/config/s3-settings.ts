// Settings for access to an S3-compatible service, for STORYBAR_STORAGE=s3://... They have the names that other
// programs use.

import { anyText, oneOf, serviceUrl } from './parse.ts';
import { setting } from './setting.ts';

const WITH_S3 = 'With an `s3://` storage:';

export const S3_SETTINGS = {
  s3Endpoint: setting(
    'STORYBAR_S3_ENDPOINT',
    '',
    `${WITH_S3} address of the service, such as \`https://s3.example.com\`. Default: Amazon S3 in AWS_REGION.`,
    serviceUrl,
  ),
  s3PathStyle: setting(
    'STORYBAR_S3_PATH_STYLE',
    '',
    `${WITH_S3} \`on\` puts the bucket into the path of a URL, \`off\` into its host name. Default: \`on\` with STORYBAR_S3_ENDPOINT or a dot in the name of the bucket, otherwise \`off\`.`,
    oneOf(['', 'on', 'off'] as const),
  ),
  s3Region: setting(
    'AWS_REGION',
    '',
    `${WITH_S3} region of the bucket. Default: \`us-east-1\`, which most other services accept.`,
    (text) => (/^[\w-]*$/u.test(text) ? { value: text === '' ? 'us-east-1' : text } : { fault: 'must name a region' }),
  ),
  s3AccessKeyId: setting('AWS_ACCESS_KEY_ID', '', `${WITH_S3} id of the access key.`, anyText),
  s3SecretAccessKey: setting('AWS_SECRET_ACCESS_KEY', '', `${WITH_S3} secret of the access key.`, anyText),
  s3SessionToken: setting(
    'AWS_SESSION_TOKEN',
    '',
    `${WITH_S3} token that belongs to a temporary access key. The server must be restarted with a new one before it expires.`,
    anyText,
  ),
} as const;
