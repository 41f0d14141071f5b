import type { IAuthenticateGeneric, ICredentialTestRequest, ICredentialType, INodeProperties } from 'n8n-workflow';

export class StorybarApi implements ICredentialType {
  name = 'storybarApi';

  displayName = 'Storybar API';

  icon = { light: 'file:../icons/storybar.svg', dark: 'file:../icons/storybar.dark.svg' } as const;

  documentationUrl = 'https://www.npmjs.com/package/n8n-nodes-storybar#credentials';

  properties: INodeProperties[] = [
    {
      displayName: 'Server URL',
      name: 'url',
      type: 'string',
      required: true,
      default: '',
      placeholder: 'https://captions.example.com',
      description: 'Address of your Storybar server',
    },
    {
      displayName: 'API Key',
      name: 'apiKey',
      type: 'string',
      typeOptions: { password: true },
      required: true,
      default: '',
    },
  ];

  authenticate: IAuthenticateGeneric = {
    type: 'generic',
    properties: { headers: { 'x-api-key': '={{$credentials.apiKey}}' } },
  };

  test: ICredentialTestRequest = {
    request: { baseURL: '={{$credentials.url}}', url: '/v1/usage' },
  };
}
