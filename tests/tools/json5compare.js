// SPDX-License-Identifier: Apache-2.0
//
// node json5compare.js MODULES docs DOCUMENTS LINES   reads the documents that json5dump read and the lines it wrote,
//                                                     and prints every case where npm's json5 says something else
// node json5compare.js MODULES ids                    prints as `json5dump ids` does: json5's two lines, then node's
'use strict'
const fs = require('fs')
const path = require('path')

const [modules, what, documents, lines] = process.argv.slice(2)
const JSON5 = require(path.join(modules, 'json5'))
console.warn = () => {} // json5 warns about U+2028 in strings, once for each

const undecided = new Error('two keys that only differ in lone surrogates')

// Our strings are UTF-8: a lone surrogate has become U+FFFD there.
function wellFormed (s) { return s.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd') }

function expectedKeys (theirs) {
    const keys = new Map()
    for (const k of Object.keys(theirs)) {
        if (keys.has(wellFormed(k))) throw undecided
        keys.set(wellFormed(k), theirs[k])
    }
    return keys
}

function same (ours, theirs) {
    if (typeof theirs === 'number' && !Number.isFinite(theirs)) return ours === '#' + theirs
    if (typeof theirs === 'string') return ours === (theirs[0] === '#' ? '#' : '') + wellFormed(theirs)
    if (theirs === null || typeof theirs !== 'object') return ours === theirs
    if (ours === null || typeof ours !== 'object' || Array.isArray(ours) !== Array.isArray(theirs)) return false
    if (Array.isArray(theirs)) return ours.length === theirs.length && theirs.every((t, i) => same(ours[i], t))
    const keys = expectedKeys(theirs)
    return Object.keys(ours).length === keys.size && [...keys].every(([k, t]) => Object.hasOwn(ours, k) && same(ours[k], t))
}

function judge (text, line) {
    const refused = line.startsWith('error')
    let theirs
    try {
        theirs = JSON5.parse(text)
    } catch (e) {
        return refused ? null : `json5 refuses (${e.message}), we read ${line}`
    }
    if (refused) return `json5 reads it, we say: ${line}`
    return same(JSON.parse(line), theirs) ? null : `json5 reads ${JSON.stringify(theirs)}, we read ${line}`
}

function compareDocs () {
    const data = fs.readFileSync(documents)
    const answers = fs.readFileSync(lines, 'utf8').split('\n')
    let n = 0, accepted = 0, different = 0
    for (let at = 0; at < data.length; n++) {
        const end = at + 4 + data.readUInt32LE(at)
        const text = data.toString('utf8', at + 4, end)
        let verdict = null
        try {
            verdict = judge(text, answers[n])
        } catch (e) {
            if (e !== undecided) throw e
        }
        if (!answers[n].startsWith('error')) accepted++
        if (verdict && ++different <= 20) console.log(`${JSON.stringify(text)}: ${verdict}`.slice(0, 2000))
        at = end
    }
    console.log(`compared ${n} accepted ${accepted} different ${different}`)
}

function edges (accepts) {
    const out = []
    let inside = false
    for (let cp = 0x80; cp <= 0x10ffff; cp++) {
        if (cp === 0xd800) cp = 0xe000
        if (accepts(String.fromCodePoint(cp)) === inside) continue
        inside = !inside
        out.push(cp)
    }
    return out.join(' ')
}

if (what === 'docs') {
    compareDocs()
} else {
    const util = require(path.join(modules, 'json5/lib/util'))
    console.log(edges(c => util.isIdStartChar(c)))
    console.log(edges(c => util.isIdContinueChar(c)))
    console.log(edges(c => /[\p{L}\p{Nl}]/u.test(c)))
    console.log(edges(c => c === '\u200c' || c === '\u200d' || /[\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}]/u.test(c)))
}
