import type {
  IExecuteFunctions,
  ILoadOptionsFunctions,
  INodeExecutionData,
  INodePropertyOptions,
  INodeType,
  INodeTypeDescription,
  JsonObject,
} from 'n8n-workflow';
import { NodeApiError, NodeConnectionTypes, NodeOperationError } from 'n8n-workflow';
import {
  captionFile,
  getRender,
  overlayOnly,
  overlayVideo,
  previewLayout,
  savedStyles,
  startBatch,
  uploadedFonts,
} from './operations';
import { fonts, presets, properties } from './properties';

const OPERATIONS: Readonly<Record<string, (context: IExecuteFunctions, item: number) => Promise<INodeExecutionData>>> =
  { captionImage: captionFile, captionVideo: captionFile, overlayOnly, overlayVideo, previewLayout, getRender };

export class Storybar implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Storybar',
    name: 'storybar',
    icon: { light: 'file:../../icons/storybar.svg', dark: 'file:../../icons/storybar.dark.svg' },
    group: ['transform'],
    version: 1,
    subtitle: '={{$parameter["operation"]}}',
    description: 'Put story-style captions on photos and videos',
    defaults: { name: 'Storybar' },
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    usableAsTool: true,
    credentials: [{ name: 'storybarApi', required: true }],
    properties,
  };

  methods = {
    loadOptions: {
      /** The styles of the account come first. */
      async getStyles(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
        return [...(await savedStyles(this)), ...presets];
      },
      /** So do its fonts. */
      async getFonts(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
        return [...(await uploadedFonts(this)), ...fonts];
      },
    },
  };

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const items = this.getInputData();
    // A batch is one request for all items.
    if (items.length > 0 && this.getNodeParameter('operation', 0) === 'startBatch') {
      return [await startBatch(this).catch((error: unknown) => [failed(this, error, 0)])];
    }
    const results: INodeExecutionData[] = [];
    for (let item = 0; item < items.length; item += 1) {
      try {
        const operation = this.getNodeParameter('operation', item) as string;
        const run = OPERATIONS[operation];
        if (run === undefined) {
          throw new NodeOperationError(this.getNode(), `Unknown operation: ${operation}`, { itemIndex: item });
        }
        results.push(await run(this, item));
      } catch (error) {
        results.push(failed(this, error, item));
      }
    }
    return [results];
  }
}

/** Throws the error, or returns it as an item if the workflow goes on after errors. */
function failed(context: IExecuteFunctions, error: unknown, item: number): INodeExecutionData {
  // Each class returns an error of its own kind unchanged.
  const failure =
    error instanceof NodeApiError
      ? new NodeApiError(context.getNode(), error as unknown as JsonObject)
      : new NodeOperationError(context.getNode(), error as Error, { itemIndex: item });
  if (!context.continueOnFail()) throw failure;
  const { message, description } = failure;
  // n8n sends items with exactly these fields to the error output, if the node has one.
  const json = description ? { error: message, message: description } : { error: message };
  return { json, pairedItem: { item } };
}
