// Runs n8n's own workflow engine, with only what a workflow of our nodes needs.

import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);
const { BinaryDataConfig, BinaryDataService, ExecutionLifecycleHooks, WorkflowExecute } = require('n8n-core');
// This must be the container that the engine itself uses. There can be another one beside it.
const { Container } = createRequire(require.resolve('n8n-core'))('@n8n/di');
const { NodeHelpers, Workflow } = require('n8n-workflow');
const { Storybar } = require('../dist/nodes/Storybar/Storybar.node.js');
const { StorybarTrigger } = require('../dist/nodes/StorybarTrigger/StorybarTrigger.node.js');
const { StorybarApi } = require('../dist/credentials/StorybarApi.credentials.js');

export { Storybar };
export const EXAMPLES = path.resolve(import.meta.dirname, '../../../examples');

/** A source before our node, which returns the items it is given. */
class Source {
  constructor(items) {
    // The engine calls it with a context of its own as `this`.
    this.execute = async () => [items];
    this.description = {
      displayName: 'Source',
      name: 'source',
      group: ['input'],
      version: 1,
      description: 'Items',
      defaults: { name: 'Source' },
      inputs: [],
      outputs: ['main'],
      properties: [],
    };
  }
}

/**
 * An agent that uses its only tool with each of these arguments. The node becomes the tool in the same way as in n8n.
 */
class Agent {
  constructor(allArguments) {
    this.execute = async function execute() {
      const [tool] = await this.getInputConnectionData('ai_tool', 0);
      const results = [];
      for (const toolArguments of allArguments) {
        results.push(await tool.invoke(toolArguments).catch((error) => error.message));
      }
      return [[{ json: { description: tool.description, fields: Object.keys(tool.schema.shape), results } }]];
    };
    this.description = {
      ...new Source([]).description,
      name: 'agent',
      inputs: ['main', { type: 'ai_tool' }],
    };
  }
}

function asTool(node) {
  if (!node.description.usableAsTool) throw new Error(`${node.description.name} can't be used as a tool.`);
  return Object.assign(node, { description: { ...node.description, inputs: [], outputs: ['ai_tool'] } });
}

export function setting(name) {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is missing. Run \`npm run test:clients\` in the repository.`);
  return value;
}

/** Provides both sets of credentials that tests use. The key goes into the header as the credential type says. */
function credentialsHelper(credentials) {
  return {
    getParentTypes: () => [],
    isCredentialUsableByNode: () => true,
    getDecrypted: async () => credentials,
    getCredentials: async () => credentials,
    getCredentialsProperties: () => new StorybarApi().properties,
    preAuthentication: async () => undefined,
    runPreAuthentication: async () => undefined,
    authenticate: async (_credentials, _type, request) => {
      const { headers } = new StorybarApi().authenticate.properties;
      const value = headers['x-api-key'].replace('={{$credentials.apiKey}}', credentials.apiKey);
      return { ...request, headers: { ...request.headers, 'x-api-key': value } };
    },
    updateCredentials: async () => {},
    updateCredentialsOauthTokenData: async () => {},
  };
}

export function additionalDataFor(credentials, executionId = crypto.randomUUID()) {
  return {
    credentialsHelper: credentialsHelper(credentials),
    executionId,
    currentNodeParameters: undefined,
    hooks: new ExecutionLifecycleHooks('trigger', executionId, { id: 'w1', name: 'Test', nodes: [], connections: {} }),
    executeWorkflow: async () => {},
    getRunExecutionData: async () => undefined,
    restApiUrl: 'http://127.0.0.1:5678/rest',
    instanceBaseUrl: 'http://127.0.0.1:5678/',
    formWaitingBaseUrl: 'http://127.0.0.1:5678/form-waiting',
    webhookBaseUrl: 'http://127.0.0.1:5678/webhook/',
    webhookWaitingBaseUrl: 'http://127.0.0.1:5678/webhook-waiting',
    webhookTestBaseUrl: 'http://127.0.0.1:5678/webhook-test/',
    variables: {},
    setExecutionStatus: () => {},
    sendDataToUI: () => {},
    logAiEvent: () => {},
  };
}

let isReady = false;
async function prepareBinaryStorage() {
  if (isReady) return;
  Container.get(BinaryDataConfig).mode = 'default';
  await Container.get(BinaryDataService).init();
  isReady = true;
}

function nodeOf(type, { description }, parameters) {
  return {
    id: 'n1',
    name: 'Storybar',
    type,
    typeVersion: 1,
    position: [0, 0],
    webhookId: 'hook-1',
    credentials: { storybarApi: { id: 'c1', name: 'Storybar' } },
    parameters: NodeHelpers.getNodeParameters(description.properties, parameters, true, false, null, null),
  };
}

function nodeTypesOf(types) {
  return {
    getByName: (name) => types[name],
    getByNameAndVersion: (name) => types[name],
    getKnownTypes: () => ({}),
  };
}

export function workflowWith(parameters, { items = [], onError = 'stopWorkflow', type = 'storybar', staticData } = {}) {
  const types = { source: new Source(items), storybar: new Storybar(), storybarTrigger: new StorybarTrigger() };
  const node = { ...nodeOf(type, types[type], parameters), onError };
  const source = { id: 's1', name: 'Source', type: 'source', typeVersion: 1, position: [0, 0], parameters: {} };
  return new Workflow({
    id: 'w1',
    name: 'Test',
    nodes: type === 'storybar' ? [source, node] : [node],
    connections: type === 'storybar' ? { Source: { main: [[{ node: 'Storybar', type: 'main', index: 0 }]] } } : {},
    active: true,
    nodeTypes: nodeTypesOf(types),
    staticData,
    settings: { executionOrder: 'v1' },
  });
}

/** Runs an agent that has our node as its tool, and returns what the agent got from it. */
export async function executeAsTool(parameters, { credentials, allArguments }) {
  await prepareBinaryStorage();
  const types = { agent: new Agent(allArguments), storybarTool: asTool(new Storybar()) };
  const tool = {
    ...nodeOf('storybarTool', types.storybarTool, { toolDescription: 'Captions', ...parameters }),
    id: 'tool-1',
  };
  const agent = { id: 'a1', name: 'Agent', type: 'agent', typeVersion: 1, position: [0, 0], parameters: {} };
  const workflow = new Workflow({
    id: 'w1',
    name: 'Test',
    nodes: [agent, tool],
    connections: { Storybar: { ai_tool: [[{ node: 'Agent', type: 'ai_tool', index: 0 }]] } },
    active: true,
    nodeTypes: nodeTypesOf(types),
    settings: { executionOrder: 'v1' },
  });
  const engine = new WorkflowExecute(additionalDataFor(credentials), 'trigger');
  const { data } = await engine.run({ workflow, startNode: workflow.getNode('Agent') });
  const { error, runData } = data.resultData;
  if (error) throw error;
  return runData.Agent[0].data.main[0][0].json;
}

/** Runs a workflow of a source and our node, and returns its outputs or the error it stopped with. */
export async function execute(parameters, { credentials, executionId, ...options }) {
  await prepareBinaryStorage();
  const workflow = workflowWith(parameters, options);
  const engine = new WorkflowExecute(additionalDataFor(credentials, executionId), 'trigger');
  const { data } = await engine.run({ workflow, startNode: workflow.getNode('Source') });
  const { error, runData } = data.resultData;
  const [items = [], failed = []] = runData.Storybar?.[0]?.data?.main ?? [];
  return { error, items, failed };
}
