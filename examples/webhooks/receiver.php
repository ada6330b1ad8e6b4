<?php
/**
 * Receives the deliveries of a subscription, checks their signatures, and prints each change once.
 *
 * Run: WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:9000 examples/webhooks/receiver.php
 * Needs no package. Behind a web server, it is a page like any other.
 */

declare(strict_types=1);

const TOLERANCE_SECONDS = 300;

/** The keys of the secrets of the subscription: two with a comma in between during a rotation. */
function readKeys(): array
{
    $secrets = explode(',', (string) getenv('WEBHOOK_SECRET'));
    $keys = array_map(fn (string $secret) => base64_decode(preg_replace('/^whsec_/', '', trim($secret))), $secrets);
    // Anyone can sign with an empty key.
    return array_filter($keys, fn (string $key) => $key !== '');
}

/** Whether one of the secrets has signed the delivery, not long ago. */
function isSigned(string $id, string $timestamp, string $signatures, string $body): bool
{
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {
        return false;
    }
    foreach (readKeys() as $key) {
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
        foreach (explode(' ', $signatures) as $signature) {
            if (hash_equals($expected, $signature)) {
                return true;
            }
        }
    }
    return false;
}

/** Whether the delivery is new. A real receiver keeps the ids in its database, in the transaction of the change. */
function isNew(string $id): bool
{
    $folder = (getenv('WEBHOOK_FOLDER') ?: sys_get_temp_dir()) . '/webhook-ids';
    if (!is_dir($folder)) {
        mkdir($folder, 0700, true);
    }
    // Mode x: only one of several simultaneous requests creates the file.
    return @fopen($folder . '/' . hash('sha256', $id), 'x') !== false;
}

if (readKeys() === []) {
    error_log('Set WEBHOOK_SECRET to the secret of the subscription.');
    http_response_code(500);
    return;
}
$body = (string) file_get_contents('php://input');
$id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
if (!isSigned($id, $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '', $body)) {
    http_response_code(401);
    return;
}
$event = json_decode($body, true, 512, JSON_THROW_ON_ERROR);
if (isNew($id)) {
    file_put_contents('php://stdout', $event['type'] . ' ' . ($event['data']['id'] ?? '') . "\n");
}
// A delivery without a 2xx answer within 15 seconds is sent again.
http_response_code(204);
