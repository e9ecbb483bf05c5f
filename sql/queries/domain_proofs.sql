-- name: DomainProofGet :one
SELECT hash FROM domain_proofs WHERE name = $1;

-- name: DomainProofUpsert :exec
INSERT INTO domain_proofs (name, hash) VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE SET hash = excluded.hash, proven_at = now();
