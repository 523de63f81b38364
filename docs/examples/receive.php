<?php
// Receives webhooks of Signet with PHP alone.
//   WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:8000 receive.php
// Signet calls https only, and PHP's built-in server has no TLS: put nginx, Caddy or the like in front.

$key = base64_decode(preg_replace('/^whsec_/', '', getenv('WEBHOOK_SECRET')));
$id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
$timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
$signatures = $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '';
$body = file_get_contents('php://input');

$wanted = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
$verified = false;
foreach (explode(' ', $signatures) as $given) {
    $verified = hash_equals($wanted, $given) || $verified;
}
if (!$verified || abs(time() - (int) $timestamp) > 300) {
    // What the dashboard's page "Check a signature" asks for. Anybody may have sent it: a terminal must not obey its control characters.
    $report = "webhook-id: $id\nwebhook-timestamp: $timestamp\nwebhook-signature: $signatures\n$body\n";
    $shown = preg_replace('/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]|\r(?!\n)/', "\u{fffd}", $report);
    file_put_contents('php://stderr', "the signature does not verify:\n$shown");
    http_response_code(400);
    exit('the signature does not verify');
}
http_response_code(204);

// An event comes at least once: look in your database whether you have handled this id.
$event = json_decode($body, true);
$envelope = $event['data']['envelope'] ?? [];
error_log(trim("{$event['type']} " . ($envelope['id'] ?? '') . ' ' . ($envelope['status'] ?? '')));
