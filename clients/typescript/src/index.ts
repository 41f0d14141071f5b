export type { Asset } from './asset.ts';
export type { BatchResult, CaptionAllOptions, CaptionAllRequest } from './caption-all.ts';
export {
  type AsyncCaptionRequest,
  type BatchRequest,
  type BatchWaitOptions,
  type CaptionOptions,
  type CaptionRequest,
  type Layout,
  type LayoutRequest,
  type Overlay,
  Storybar,
  type StorybarOptions,
  type UploadOptions,
  type Usage,
  type WaitOptions,
} from './client.ts';
export {
  type ErrorCode,
  type FieldFault,
  type Problem,
  StorybarApiError,
  StorybarConnectionError,
  StorybarError,
  StorybarRenderError,
  StorybarTimeoutError,
  StorybarWebhookError,
} from './errors.ts';
export type { Logo, Logos } from './logos.ts';
export type { OnProgress, Progress } from './platform.ts';
export type { RenderedFile } from './rendered-file.ts';
export type { Batch, Render, RenderList, RenderOutput, SucceededRender, WebhookEvent } from './renders.ts';
export type { Font, Fonts, FontUploadOptions } from './fonts.ts';
export type { SavedStyle, Style, Styles, StyleToSave } from './styles.ts';
export type { RequestOptions } from './transport.ts';
export type {
  WebhookDeliveries,
  WebhookDelivery,
  WebhookDeliveryDetails,
  WebhookDeliveryFilter,
} from './webhook-deliveries.ts';
export type {
  NewWebhookEndpoint,
  RotationOptions,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpoints,
  WebhookEndpointWithSecret,
  WebhookEventType,
  WebhookSecret,
} from './webhook-endpoints.ts';
export { type VerifyOptions, verifyWebhook } from './webhooks.ts';
