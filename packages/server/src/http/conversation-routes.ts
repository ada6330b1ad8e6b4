/**
 * The routes whose calls are made while they are answered, as one table: Fastify's routes and their part of the OpenAPI
 * document are generated from it.
 */
import type { FastifyInstance } from 'fastify';
import {
  type ConversationTerms,
  createExecuteConversation,
  type OperationDeps,
} from '../execute/operations.ts';
import type { Conversation } from '../execute/terms/conversation.ts';
import type { Denial } from '../execute/terms/denial.ts';
import { OWN_DIALECT } from '../execute/terms/dialect.ts';
import type { Mcp } from '../mcp/mcp.ts';
import { addCallRoute, type CallRoutesDeps } from './call-routes.ts';

/** What serves the routes. */
export interface Conversations {
  mcp: Mcp;
}

/** A `POST` route. */
export interface ConversationRoute extends ConversationTerms {
  path: string;
  /** Answers the request, or returns why it is refused as a whole. */
  serve(conversation: Conversation, conversations: Conversations): Promise<Denial | null>;
  /** For the OpenAPI document, as the members below: the name of the operation in generated clients. */
  id: string;
  summary: string;
  /** An example of the body. */
  example: object;
  answer: { description: string; types: readonly string[] };
}

export const CONVERSATION_ROUTES: readonly ConversationRoute[] = [
  {
    path: '/mcp',
    via: 'mcp',
    values: 'normalized',
    serve: (conversation, { mcp }) => mcp.serve(conversation),
    id: 'mcp',
    summary: 'Tools for agents, by the Model Context Protocol (docs/mcp.md).',
    example: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    answer: {
      description: 'A message of the Model Context Protocol.',
      types: ['application/json', 'text/event-stream'],
    },
  },
];

export interface ConversationRoutesDeps extends CallRoutesDeps {
  conversations: Conversations;
}

export function addConversationRoutes(
  app: FastifyInstance,
  deps: ConversationRoutesDeps & OperationDeps,
): void {
  for (const { path, serve, ...terms } of CONVERSATION_ROUTES) {
    const pipeline = createExecuteConversation(deps, terms, (conversation) =>
      serve(conversation, deps.conversations),
    );
    addCallRoute(app, { path, dialect: OWN_DIALECT }, pipeline, deps);
  }
}
