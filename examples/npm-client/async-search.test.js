'use strict'

// Elastic's own JavaScript client, in its versions 8 and 9, submits async searches, waits for them in both ways and deletes them, and writes the
// documents that it searches. The server's address is the first argument or in ELASTICSEARCH_URL.

const assert = require('node:assert/strict')
const { after, before, describe, test } = require('node:test')

const node = process.argv[2] ?? process.env.ELASTICSEARCH_URL
if (!node) {
  throw new Error('which server? node async-search.test.js http://127.0.0.1:9200, or ELASTICSEARCH_URL=... npm test')
}

const documents = 50

// A search that takes as long as it says. Servers without shard_delay refuse it.
const delayed = (value) => ({ size: 3, aggs: { delay: { shard_delay: { value } } } })

for (const version of [8, 9]) {
  const { Client, errors } = require(`elasticsearch-${version}`)
  const index = `npm-client-${version}`

  describe(`client ${version}`, () => {
    // Retries would hide what the server answers.
    const client = new Client({ node, maxRetries: 0 })
    // What the server says of a request that it refuses.
    const refusal = (status, type) => (error) => {
      assert(error instanceof errors.ResponseError, error)
      assert.equal(error.statusCode, status)
      assert.equal(error.body.error.type, type)
      return true
    }

    // A server 8 refuses a client that asks for answers compatible with version 9.
    let refused
    const it = (name, play) => test(name, (t) => (refused ? t.skip(refused) : play(t)))

    before(async () => {
      await client.indices.delete({ index, ignore_unavailable: true })
      try {
        await client.indices.create({ index, settings: { number_of_shards: 1, number_of_replicas: 0 } })
      } catch (error) {
        if (error.body?.error?.type !== 'media_type_header_exception') throw error
        refused = error.body.error.caused_by.reason
      }
    })
    after(async () => {
      if (!refused) await client.indices.delete({ index })
      await client.close()
    })

    it('starts up', async () => {
      assert.equal(await client.ping(), true)
      const info = await client.info()
      assert.match(info.version.number, /^\d+\.\d+\.\d+/)
      assert.equal(info.tagline, 'You Know, for Search')
      assert.equal((await client.cluster.health({ wait_for_status: 'yellow' })).timed_out, false)
    })

    it('writes and searches', async () => {
      const operations = Array.from({ length: documents }, (_, n) => [{ index: { _id: `${n}` } }, { n, name: `document ${n}` }]).flat()
      const written = await client.bulk({ index, operations, refresh: true })
      assert.equal(written.errors, false)
      assert.equal(written.items.length, documents)
      assert.equal(written.items[7].index.result, 'created')
      assert.equal((await client.count({ index })).count, documents)
      assert.equal((await client.get({ index, id: '7' }))._source.n, 7)

      await client.index({ index, id: 'one more', document: { n: documents }, refresh: true })
      const found = await client.search({ index, query: { ids: { values: ['7', 'one more'] } } })
      assert.deepEqual(found.hits.hits.map((hit) => hit._source.n), [7, documents])
      await client.delete({ index, id: 'one more', refresh: true })
      assert.equal((await client.search({ index, size: 0 })).hits.total.value, documents)

      const helped = await client.helpers.bulk({
        datasource: [{ n: 1 }, { n: 2 }],
        onDocument: (document) => ({ index: { _index: index, _id: `${document.n}` } }),
        refreshOnCompletion: index
      })
      assert.equal(helped.successful, 2)
      assert.equal((await client.count({ index })).count, documents)
    })

    it('a search that is done within the wait has no id', async () => {
      const { body, headers } = await client.asyncSearch.submit({ index, size: 2, wait_for_completion_timeout: '10s' }, { meta: true })
      assert.equal(body.id, undefined)
      assert.equal(body.is_running, false)
      assert.equal(body.response.hits.hits.length, 2)
      assert.equal(headers['x-elasticsearch-async-is-running'], '?0')
    })

    it('a search is kept if that is asked for', async () => {
      const { id } = await client.asyncSearch.submit({ index, keep_on_completion: true, wait_for_completion_timeout: '10s', keep_alive: '1m' })
      const kept = await client.asyncSearch.get({ id })
      assert.equal(kept.response.hits.total.value, documents)
      assert.equal((await client.asyncSearch.status({ id })).completion_status, 200)
      assert.equal((await client.asyncSearch.delete({ id })).acknowledged, true)
      await assert.rejects(client.asyncSearch.get({ id }), refusal(404, 'resource_not_found_exception'))
    })

    it('polls a slow search', async (t) => {
      const submit = (delay) => client.asyncSearch.submit({ index, ...delayed(delay), wait_for_completion_timeout: '0', keep_on_completion: true, keep_alive: '1m' })
      // It runs until it is deleted, however long that takes.
      let submitted
      try {
        submitted = await submit('1m')
      } catch (error) {
        if (/shard_delay/.test(error.body?.error?.reason)) return t.skip('the server has no shard_delay')
        throw error
      }
      let { id } = submitted
      assert.equal(submitted.is_running, true)
      assert.equal((await client.asyncSearch.status({ id })).is_running, true)
      assert.equal((await client.asyncSearch.get({ id, wait_for_completion_timeout: '100ms' })).is_running, true)

      // Who goes away in the middle of a long poll leaves the search running.
      const leaving = new AbortController()
      setTimeout(() => leaving.abort(), 50)
      const dropped = client.asyncSearch.get({ id, wait_for_completion_timeout: '30s' }, { signal: leaving.signal })
      await assert.rejects(dropped, errors.RequestAbortedError)
      assert.equal((await client.asyncSearch.status({ id })).is_running, true)
      await client.asyncSearch.delete({ id })

      id = (await submit('300ms')).id
      const polls = await Promise.all([1, 2, 3].map(() => client.asyncSearch.get({ id, wait_for_completion_timeout: '30s', keep_alive: '2m' })))
      for (const done of polls) {
        assert.equal(done.is_running, false)
        assert.equal(done.is_partial, false)
        assert(done.response.took >= 300, `took ${done.response.took} ms`)
        assert.equal(done.response.hits.hits.length, 3)
      }
      await client.asyncSearch.delete({ id })
      await assert.rejects(client.asyncSearch.status({ id }), refusal(404, 'resource_not_found_exception'))
    })

    it('errors are told as they are', async () => {
      await assert.rejects(client.asyncSearch.get({ id: 'abc!' }), refusal(400, 'illegal_argument_exception'))
      await assert.rejects(client.asyncSearch.submit({ index, keep_alive: '1ms' }), refusal(400, 'action_request_validation_exception'))
      await assert.rejects(client.asyncSearch.submit({ index, wait_for_completion_timeout: '5' }), refusal(400, 'illegal_argument_exception'))
      await assert.rejects(client.asyncSearch.submit({ index, query: { telepathy: {} } }), refusal(400, 'parsing_exception'))
      await assert.rejects(client.asyncSearch.submit({ index: 'nothing-there' }), refusal(404, 'status_exception'))
      await assert.rejects(client.search({ index: 'nothing-there' }), refusal(404, 'index_not_found_exception'))
      await assert.rejects(client.get({ index, id: 'nothing' }), (error) => error.statusCode === 404 && error.body.found === false)
    })
  })
}
