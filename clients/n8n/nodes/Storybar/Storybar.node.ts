import type { IExecuteFunctions, INodeExecutionData, INodeType, INodeTypeDescription, JsonObject } from 'n8n-workflow';
import { NodeApiError, NodeConnectionTypes, NodeOperationError } from 'n8n-workflow';
import { captionFile, getRender, overlayOnly } from './operations';
import { properties } from './properties';

const OPERATIONS: Readonly<Record<string, (context: IExecuteFunctions, item: number) => Promise<INodeExecutionData>>> =
  { captionImage: captionFile, captionVideo: captionFile, overlayOnly, getRender };

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

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const results: INodeExecutionData[] = [];
    for (let item = 0; item < this.getInputData().length; item += 1) {
      try {
        const operation = this.getNodeParameter('operation', item) as string;
        const run = OPERATIONS[operation];
        if (run === undefined) {
          throw new NodeOperationError(this.getNode(), `Unknown operation: ${operation}`, { itemIndex: item });
        }
        results.push(await run(this, item));
      } catch (error) {
        // Each class returns an error of its own kind unchanged.
        const failure =
          error instanceof NodeApiError
            ? new NodeApiError(this.getNode(), error as unknown as JsonObject)
            : new NodeOperationError(this.getNode(), error as Error, { itemIndex: item });
        if (!this.continueOnFail()) throw failure;
        const { message, description } = failure;
        // n8n sends items with exactly these fields to the error output, if the node has one.
        const json = description ? { error: message, message: description } : { error: message };
        results.push({ json, pairedItem: { item } });
      }
    }
    return [results];
  }
}
