module Shapes

open System

type Shape =
    | Circle of radius: float
    | Rectangle of width: float * height: float

type Point = { X: int; Y: int }

let area = function
    | Circle r -> Math.PI * r * r
    | Rectangle (w, h) -> w * h

let rec primes = function
    | [] -> []
    | p :: rest -> p :: primes (List.filter (fun n -> n % p <> 0) rest)

[<EntryPoint>]
let main argv =
    printfn "%d arguments, %s, %A" argv.Length "text" (Map.ofList [ 1, "one"; 2, "two" ])
    [ Circle 1.0; Rectangle (2.0, 3.5) ] |> List.map area |> printfn "%A"
    async {
        let! parts = Async.Parallel [ for i in 1 .. 5 -> async { return i * i } ]
        return Array.sum parts
    } |> Async.RunSynchronously |> printfn "sum of squares %d"
    seq { for i in 1 .. 10 do if i % 3 = 0 then yield i } |> Seq.toList |> printfn "%A"
    printfn "%A" (primes [ 2 .. 40 ])
    printfn "%A %b" { X = 1; Y = 2 } ({ X = 1; Y = 2 } = { X = 1; Y = 2 })
    try failwith "thrown" with Failure message -> printfn "caught %s" message
    printfn "%s" (sprintf "%5.2f|%-6s|%06d|%x" 3.14159 "ab" 42 255)
    0
