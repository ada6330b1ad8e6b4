<?php
/*
 * Lists open quotations, creates a customer, or confirms a quotation:
 *
 *     php quotations.php list
 *     php quotations.php customer 1001 'Azure Interior'
 *     php quotations.php confirm 1
 *
 * ERP_PROXY_URL, ERP_PROXY_KEY and ERP_PROXY_INSTANCE name the proxy, the client key and the stored instance. The
 * program needs no extension of PHP.
 */
declare(strict_types=1);

const ATTEMPTS = 4;
const READS = ['search_read', 'read', 'search', 'search_count', 'fields_get'];

/** An error of the proxy or of Odoo. `type` is one of the types in docs/errors.md. */
final class ProxyError extends Exception
{
    public function __construct(
        string $message,
        public readonly string $type,
        public readonly bool $retryable,
        public readonly string $requestId,
        public readonly float $retryAfter,
    ) {
        parent::__construct($message);
    }
}

/** No answer arrived: the call may have run. */
final class NoAnswer extends Exception
{
}

/** Calls a method. The same bytes are sent again if a repetition is safe. */
function call(string $model, string $method, array $params = [], array $keyword = [], ?string $idempotencyKey = null): mixed
{
    $body = json_encode([
        'model_id' => $model,
        'action' => $method,
        'params' => $params,
        'keyword' => (object) $keyword,
        'erp_instance' => ['name' => getenv('ERP_PROXY_INSTANCE')],
    ], JSON_THROW_ON_ERROR);
    for ($attempt = 1; ; $attempt++) {
        $wait = 0.2 * 2 ** $attempt * random_int(50, 100) / 100;
        try {
            return send($body, $idempotencyKey);
        } catch (ProxyError $error) {
            if (!$error->retryable || $attempt === ATTEMPTS) {
                throw $error;
            }
            $wait = max($wait, $error->retryAfter);
        } catch (NoAnswer $error) {
            // Only a read, or a write with a key, can be sent again.
            $isSafe = in_array($method, READS, true) || $idempotencyKey !== null;
            if (!$isSafe || $attempt === ATTEMPTS) {
                throw $error;
            }
        }
        usleep((int) ($wait * 1e6));
    }
}

function send(string $body, ?string $idempotencyKey): mixed
{
    $headers = ['content-type: application/json', 'x-proxy-api: ' . getenv('ERP_PROXY_KEY'), 'connection: close'];
    if ($idempotencyKey !== null) {
        $headers[] = "idempotency-key: $idempotencyKey";
    }
    // ignore_errors: errors of the proxy have a status of 400 or more, and the same body.
    $options = ['method' => 'POST', 'header' => $headers, 'content' => $body, 'timeout' => 30, 'ignore_errors' => true];
    $stream = @fopen(rtrim(getenv('ERP_PROXY_URL'), '/') . '/api/erp/execute', 'r', false, stream_context_create(['http' => $options]));
    if ($stream === false) {
        throw new NoAnswer('No answer of a proxy at ' . getenv('ERP_PROXY_URL') . '.');
    }
    $answer = json_decode((string) stream_get_contents($stream), true);
    if (!is_array($answer)) {
        throw new NoAnswer('The answer broke off, or is not one of a proxy: ' . getenv('ERP_PROXY_URL') . '.');
    }
    if (!isset($answer['error'])) {
        return $answer['result'];
    }
    $found = [];
    foreach (stream_get_meta_data($stream)['wrapper_data'] as $line) {
        [$name, $value] = explode(':', $line, 2) + [1 => ''];
        $found[strtolower($name)] = trim($value);
    }
    ['message' => $message, 'data' => $data] = $answer['error'];
    $requestId = $found['x-request-id'] ?? '';
    throw new ProxyError($message, $data['type'], $data['retryable'], $requestId, (float) ($found['retry-after'] ?? 0));
}

/**
 * Yields each record once: a page begins after the last id of the previous one, so that new records do not shift pages.
 */
function readPages(string $model, array $domain, array $fields, int $size): Generator
{
    $last = 0;
    do {
        $keyword = ['fields' => $fields, 'limit' => $size, 'order' => 'id'];
        $page = call($model, 'search_read', [[...$domain, ['id', '>', $last]]], $keyword);
        foreach ($page as $record) {
            yield $record;
            $last = $record['id'];
        }
    } while (count($page) === $size);
}

function listQuotations(): void
{
    $fields = ['name', 'partner_id', 'amount_total'];
    foreach (readPages('sale.order', [['state', 'in', ['draft', 'sent']]], $fields, 2) as $order) {
        printf("%s  %s  %.2F\n", $order['name'], $order['partner_id'][1], $order['amount_total']);
    }
}

/** `$number` is the customer's number in the shop: the same number never creates a second customer. */
function createCustomer(string $number, string $name): void
{
    $values = ['name' => $name, 'ref' => $number];
    echo 'customer ', call('res.partner', 'create', [$values], [], "shop-customer-$number"), "\n";
}

function confirmQuotation(int $id): void
{
    call('sale.order', 'action_confirm', [[$id]]);
    echo "confirmed $id\n";
}

function fail(string $message): never
{
    fwrite(STDERR, "$message\n");
    exit(1);
}

$missing = array_filter(['ERP_PROXY_URL', 'ERP_PROXY_KEY', 'ERP_PROXY_INSTANCE'], fn (string $name) => !getenv($name));
if ($missing !== []) {
    fail('Set ' . implode(', ', $missing) . '.');
}
[$command, $first, $second] = array_slice($argv, 1) + ['', '', ''];
try {
    match ($command) {
        'list' => listQuotations(),
        'customer' => createCustomer($first, $second),
        'confirm' => confirmQuotation((int) $first),
        default => fail('usage: quotations.php list | customer <number> <name> | confirm <id>'),
    };
} catch (NoAnswer $error) {
    fail($error->getMessage());
} catch (ProxyError $error) {
    fail(match ($error->type) {
        'record_missing' => 'There is no such quotation.',
        'user_error', 'validation_error' => "Odoo refuses: {$error->getMessage()}",
        default => "{$error->type}: {$error->getMessage()} (request {$error->requestId})",
    });
}
