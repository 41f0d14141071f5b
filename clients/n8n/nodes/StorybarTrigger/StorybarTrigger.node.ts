import type {
  IHookFunctions,
  INodeType,
  INodeTypeDescription,
  IWebhookFunctions,
  IWebhookResponseData,
  JsonObject,
} from 'n8n-workflow';
import { NodeApiError, NodeConnectionTypes } from 'n8n-workflow';
import { apiRequest, parseJson } from '../Storybar/request';
import { isGenuine } from './signature';

interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly status: 'enabled' | 'disabled';
  readonly secret?: string;
}

/** n8n keeps this with the workflow. */
interface Registration {
  endpointId?: string;
  secret?: string;
}

export class StorybarTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Storybar Trigger',
    name: 'storybarTrigger',
    icon: { light: 'file:../../icons/storybar.svg', dark: 'file:../../icons/storybar.dark.svg' },
    group: ['trigger'],
    version: 1,
    subtitle: '={{$parameter["events"].join(", ")}}',
    description: 'Starts the workflow when an asynchronous render ends',
    defaults: { name: 'Storybar Trigger' },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'storybarApi', required: true }],
    webhooks: [{ name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'webhook' }],
    properties: [
      {
        displayName: 'Events',
        name: 'events',
        type: 'multiOptions',
        required: true,
        default: ['render.succeeded'],
        options: [
          { name: 'Batch Completed', value: 'batch.completed' },
          { name: 'Render Canceled', value: 'render.canceled' },
          { name: 'Render Failed', value: 'render.failed' },
          { name: 'Render Succeeded', value: 'render.succeeded' },
        ],
      },
    ],
    usableAsTool: undefined,
  };

  webhookMethods = {
    default: {
      async checkExists(this: IHookFunctions): Promise<boolean> {
        const { endpointId, secret } = this.getWorkflowStaticData('node') as Registration;
        if (endpointId === undefined || secret === undefined) return false;
        const { endpoints } = parseJson<{ endpoints: Endpoint[] }>(
          await apiRequest(this, 'GET', '/v1/webhook-endpoints'),
        );
        // The service disables an endpoint that fails for days. Then it has to be created again.
        const registered = endpoints.find(({ id }) => id === endpointId);
        return registered?.status === 'enabled' && registered.url === this.getNodeWebhookUrl('default');
      },
      async create(this: IHookFunctions): Promise<boolean> {
        await unregister(this);
        const body = { url: this.getNodeWebhookUrl('default'), events: this.getNodeParameter('events') as string[] };
        const response = await apiRequest(this, 'POST', '/v1/webhook-endpoints', { body, json: true });
        const { id, secret } = parseJson<Endpoint>(response);
        Object.assign(this.getWorkflowStaticData('node'), { endpointId: id, secret });
        return true;
      },
      async delete(this: IHookFunctions): Promise<boolean> {
        await unregister(this);
        return true;
      },
    },
  };

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const { secret = '' } = this.getWorkflowStaticData('node') as Registration;
    const { rawBody, headers } = this.getRequestObject();
    if (secret === '' || !(await isGenuine(headers, rawBody, secret))) {
      this.getResponseObject().status(401).send('The signature is invalid or too old.').end();
      return { noWebhookResponse: true };
    }
    return { workflowData: [this.helpers.returnJsonArray(this.getBodyData())] };
  }
}

/** Does nothing if there is no registration. */
async function unregister(context: IHookFunctions): Promise<void> {
  const registration = context.getWorkflowStaticData('node') as Registration;
  if (registration.endpointId === undefined) return;
  const path = `/v1/webhook-endpoints/${encodeURIComponent(registration.endpointId)}`;
  try {
    await apiRequest(context, 'DELETE', path);
  } catch (error) {
    // An endpoint that is already gone is fine.
    const isGone = error instanceof NodeApiError && error.httpCode === '404';
    if (!isGone) throw new NodeApiError(context.getNode(), error as JsonObject);
  }
  delete registration.endpointId;
  delete registration.secret;
}
