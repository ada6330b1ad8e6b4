/** Types for the part of oidc-provider that is used. The package has none. */
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

  export default class Provider {
    constructor(issuer: string, configuration: object);
    /** True: the headers of a reverse proxy are trusted. */
    proxy: boolean;
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): this;
    callback(): RequestListener;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<InteractionDetails>;
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
    /** Stores the result. Returns the address at which the browser goes on. */
    interactionResult(request: IncomingMessage, response: ServerResponse, result: object): Promise<string>;
    on(event: string, listener: (...given: never[]) => void): this;
    readonly Grant: new (members: {
      clientId: string;
      accountId: string;
    }) => {
      addOIDCScope(scope: string): void;
      save(): Promise<string>;
    };
    readonly Client: {
      find(id: string): Promise<Client | undefined>;
      /** Rejects for metadata that are not valid. */
      validate(metadata: object): Promise<void>;
    };
    readonly RefreshToken: { prototype: { grantId?: string; generateTokenId(): string } };
  }

  export interface InteractionDetails {
    readonly uid: string;
    readonly params: Readonly<Record<string, unknown>>;
  }

  export interface Client {
    readonly clientId: string;
    readonly clientName?: string;
    readonly clientUri?: string;
    readonly redirectUris: readonly string[];
    grantTypeAllowed(type: string): boolean;
  }

  /** The context of a request. */
  export interface Context {
    readonly req: IncomingMessage;
    type: string;
    status: number;
    body: unknown;
    set(name: string, value: string): void;
    readonly oidc: { readonly result?: Readonly<Record<string, unknown>> };
  }

  export const errors: {
    readonly OIDCProviderError: new (
      status: number,
      message: string,
    ) => Error & { error_description: string };
    readonly InvalidGrant: new (detail: string) => Error;
    readonly InvalidTarget: new () => Error;
    readonly SessionNotFound: new (description: string) => Error;
  };

  export namespace interactionPolicy {
    class Check {
      constructor(
        reason: string,
        description: string,
        error: string,
        check: (context: Context) => boolean | Promise<boolean>,
      );
    }
    class Prompt {
      constructor(options: { name: string; requestable?: boolean }, ...checks: Check[]);
    }
  }
}
