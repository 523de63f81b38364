<?php
// Receives webhooks of Signet with PHP alone.
//   WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:8000 receive.php
// In front of it stands whatever ends TLS for you, such as nginx or Caddy.

$key = base64_decode(preg_replace('/^whsec_/', '', getenv('WEBHOOK_SECRET')));
$id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
$timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
$body = file_get_contents('php://input');

$wanted = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
$verified = false;
foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $given) {
    $verified = hash_equals($wanted, $given) || $verified;
}
if (!$verified || abs(time() - (int) $timestamp) > 300) {
    http_response_code(400);
    exit('the signature does not verify');
}
http_response_code(204);

// An event comes at least once: look in your database whether you have handled this id.
$event = json_decode($body, true);
$envelope = $event['data']['envelope'] ?? [];
error_log(trim("{$event['type']} " . ($envelope['id'] ?? '') . ' ' . ($envelope['status'] ?? '')));
