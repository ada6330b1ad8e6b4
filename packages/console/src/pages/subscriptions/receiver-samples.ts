/** Sample code that verifies the signature of a webhook. It reads the secret from a variable. Pure. */

export interface Sample {
  language: string;
  code: string;
}

export const SAMPLES: readonly Sample[] = [
  {
    language: 'TypeScript',
    code: `import { verifyWebhook } from '@erp-proxy/client';

export async function receive(request: Request): Promise<Response> {
  const secret = process.env.WEBHOOK_SECRET!;
  const event = await verifyWebhook({ body: await request.text(), headers: request.headers, secret });
  console.log(event.type, event.data);
  return new Response(null, { status: 204 });
}`,
  },
  {
    language: 'Python',
    code: `import base64, hashlib, hmac, os, time

def verify(body: bytes, headers) -> None:
    secret = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
    if abs(time.time() - int(headers["webhook-timestamp"])) > 300:
        raise ValueError("the delivery is too old")
    signed = f'{headers["webhook-id"]}.{headers["webhook-timestamp"]}.'.encode() + body
    expected = "v1," + base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()
    if not any(hmac.compare_digest(expected, given) for given in headers["webhook-signature"].split(" ")):
        raise ValueError("the signature is wrong")`,
  },
  {
    language: 'PHP',
    code: `function verify(string $body, array $headers): void {
    $secret = base64_decode(preg_replace('/^whsec_/', '', getenv('WEBHOOK_SECRET')));
    if (abs(time() - (int) $headers['webhook-timestamp']) > 300) {
        throw new Exception('the delivery is too old');
    }
    $signed = "{$headers['webhook-id']}.{$headers['webhook-timestamp']}.$body";
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $secret, true));
    foreach (explode(' ', $headers['webhook-signature']) as $given) {
        if (hash_equals($expected, $given)) return;
    }
    throw new Exception('the signature is wrong');
}`,
  },
];
